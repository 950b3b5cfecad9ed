import { describe, expect, it } from 'vitest';
import { healthy } from '../../../test/support/worlds.ts';
import { act, wait, waitForPerson } from '../../core/plan/cluster/step.ts';
import { Failure } from '../../std/failure.ts';
import { type Ended, nextVisit } from './visit.ts';

const world = healthy(3);
const after = (pass: Partial<Ended>, untold = 0) =>
  nextVisit({ observed: { world }, verdict: { is: 'settled' }, trouble: {}, ...pass }, untold);

describe('the next visit of a cluster', () => {
  it('is about ten seconds off when all is well, or when its status may be written', () => {
    expect(after({})).toEqual({ is: 'again', afterSeconds: 10, isRough: true });
    expect(after({}, 0.4)).toEqual({ is: 'again', afterSeconds: 0.4 });
  });

  it('is a wait with a name wherever something is waited for, so that it becomes rarer', () => {
    expect(after({ verdict: wait('Rolling', 'x') })).toMatchObject({ afterSeconds: 0.2, waitsFor: 'Rolling' });
    expect(after({ verdict: wait('SecretUnfit', 'x') })).toMatchObject({ afterSeconds: 1, waitsFor: 'SecretUnfit' });
    expect(after({ verdict: waitForPerson('QuorumLost', 'x') })).toMatchObject({ afterSeconds: 5 });
    for (const kind of ['conflict', 'unreachable'] as const)
      for (const trouble of [{ failure: new Failure(kind, 'x') }, { aside: new Failure(kind, 'x') }])
        expect(after({ trouble })).toMatchObject({ afterSeconds: 0.2, waitsFor: `the end of: ${kind}` });
  });

  it('is soon after a step, which has a name so that a repetition of it becomes rarer', () => {
    const verdict = act('LabelsLost', 'labels of db-0 are put back');
    const named = 'LabelsLost: labels of db-0 are put back';
    expect(after({ verdict })).toEqual({ is: 'again', afterSeconds: 0.02, acted: named });
  });

  it('is for workers of their own where etcd does not answer, and not where it has not formed, or no member runs', () => {
    const unseen = { ...world, membership: { seen: false as const, why: 'x' } };
    const verdict = wait('NoContact', 'x');
    expect(after({ verdict, observed: { world: unseen } })).toMatchObject({ isSilent: true });
    const carriers = unseen.carriers.map((carrier) => ({ ...carrier, hasRun: false }));
    expect(after({ verdict, observed: { world: { ...unseen, carriers } } })).not.toHaveProperty('isSilent');
    const memory = { ...unseen.memory, clusterId: undefined };
    expect(after({ verdict, observed: { world: { ...unseen, memory } } })).not.toHaveProperty('isSilent');
    expect(after({ verdict })).not.toHaveProperty('isSilent');
  });
});
