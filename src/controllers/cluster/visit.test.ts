import { describe, expect, it } from 'vitest';
import { healthy } from '../../../test/support/worlds.ts';
import { act, wait, waitForUser } from '../../core/cluster/plan/step.ts';
import { ApiFailure } from '../../kube/errors.ts';
import { Failure } from '../../std/failure.ts';
import { type Ended, nextVisit } from './visit.ts';

const world = healthy(3);
const after = (pass: Partial<Ended>, untilStatusWrite = 0) =>
  nextVisit({ observed: { world }, verdict: { is: 'settled' }, trouble: {}, ...pass }, untilStatusWrite);

describe('the next pass over a cluster', () => {
  it('follows after ten seconds for a settled cluster, or when its delayed status may be written', () => {
    expect(after({})).toEqual({ is: 'requeue', afterSeconds: 10, isApproximate: true });
    expect(after({}, 0.4)).toEqual({ is: 'requeue', afterSeconds: 0.4 });
  });

  it('has the reason of the wait, so that repeated waits back off', () => {
    expect(after({ verdict: wait('Rolling', 'x') })).toMatchObject({ afterSeconds: 0.2, waitsFor: 'Rolling' });
    expect(after({ verdict: wait('InvalidSecret', 'x') })).toMatchObject({
      afterSeconds: 1,
      waitsFor: 'InvalidSecret',
    });
    expect(after({ verdict: waitForUser('QuorumLost', 'x') })).toMatchObject({ afterSeconds: 5 });
    for (const kind of ['conflict', 'unreachable'] as const)
      for (const trouble of [{ failure: new Failure(kind, 'x') }, { aside: new Failure(kind, 'x') }])
        expect(after({ trouble })).toMatchObject({ afterSeconds: 0.2, waitsFor: `retry after: ${kind}` });
  });

  it('waits as long as an overloaded API server asks, after a failure that blocks no step', () => {
    const aside = new ApiFailure('unreachable', 'too many requests', { retryAfterSeconds: 30 });
    expect(after({ trouble: { aside } })).toMatchObject({ afterSeconds: 30 });
  });

  it('follows a step soon, with the name of the step so that repeated steps back off', () => {
    const verdict = act('LabelsLost', 'labels of db-0 are put back');
    const named = 'LabelsLost: labels of db-0 are put back';
    expect(after({ verdict })).toEqual({ is: 'requeue', afterSeconds: 0.02, afterStep: named });
  });

  it('runs on separate workers if etcd of a formed cluster with running members does not answer', () => {
    const unseen = { ...world, membership: { seen: false as const, why: 'x' } };
    const verdict = wait('NoContact', 'x');
    expect(after({ verdict, observed: { world: unseen } })).toMatchObject({ isUnresponsive: true });
    const memberPods = unseen.memberPods.map((memberPod) => ({ ...memberPod, hasRun: false }));
    expect(after({ verdict, observed: { world: { ...unseen, memberPods } } })).not.toHaveProperty('isUnresponsive');
    const memory = { ...unseen.memory, clusterId: undefined };
    expect(after({ verdict, observed: { world: { ...unseen, memory } } })).not.toHaveProperty('isUnresponsive');
    expect(after({ verdict })).not.toHaveProperty('isUnresponsive');
  });
});
