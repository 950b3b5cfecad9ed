import { describe, expect, it } from 'vitest';
import { aCarrier, aWorld, nameOf, untouched, wanting, withIntent } from '../../../../test/support/worlds.ts';
import { freeOrdinals } from '../../model/ordinals.ts';
import { rememberBootstrap } from './remember-bootstrap.ts';
import { startFounders } from './start-founders.ts';

/** Who founds a cluster of that size where these names have left disks. */
function founders(size: number, left: readonly string[]): readonly string[] {
  const leftDisks = left.map(nameOf);
  const spareNames = freeOrdinals('db', new Set(left), 9);
  const world = {
    ...aWorld(untouched(), wanting(size), withIntent({ memberNames: 'ordinal' })),
    leftDisks,
    spareNames,
  };
  const verdict = rememberBootstrap(world);
  const [step] = verdict?.is === 'act' ? verdict.steps : [];
  return step?.kind === 'remember-bootstrap' ? step.bootstrap.members : [];
}

describe('the founders of a cluster', () => {
  it('are as many as the spec says, with the lowest numbers', () => {
    expect(founders(3, [])).toEqual(['db-0', 'db-1', 'db-2']);
  });

  it('are those who left disks, and nobody with an empty one beside them', () => {
    expect(founders(3, ['db-1'])).toEqual(['db-1']);
    expect(founders(1, ['db-2', 'db-10', 'db-0'])).toEqual(['db-0', 'db-2', 'db-10']);
  });

  it('say whose volumes they wait for, and what to do where those are too few', () => {
    const bootstrap = { members: [nameOf('db-0')], token: 't', onLeftDisks: true };
    const forming = aWorld(untouched(), wanting(3));
    const world = { ...forming, carriers: [{ ...aCarrier(nameOf('db-0')), ready: false }] };
    const verdict = startFounders({ ...world, memory: { ...world.memory, bootstrap } });
    expect(verdict).toMatchObject({ is: 'wait', reason: 'Forming', message: expect.stringContaining('for db-0 to') });
    expect(verdict).toMatchObject({ message: expect.stringContaining('fewer than a majority') });
  });

  it('are not chosen for an etcd that is known to lose data, or that is none of ours, unless it has left its disks', () => {
    const verdictOn = (version: string, left: readonly string[] = []) =>
      rememberBootstrap({ ...aWorld(untouched(), wanting(1), withIntent({ version })), leftDisks: left.map(nameOf) });
    for (const version of ['3.5.1', '2.3.8', '99.0.0'])
      expect(verdictOn(version)).toMatchObject({
        ...{ is: 'wait', reason: 'BadSpec', needsPerson: true },
        message: expect.stringContaining(`spec.version: etcd ${version}`),
      });
    expect(verdictOn('3.5.3')).toMatchObject({ is: 'act' });
    expect(verdictOn('3.5.1', ['db-0'])).toMatchObject({ is: 'act' });
  });

  it('are chosen once', () => {
    const world = aWorld(untouched());
    const memory = { ...world.memory, bootstrap: { members: [nameOf('db-0')], token: 't' } };
    expect(rememberBootstrap({ ...world, memory })).toBeUndefined();
  });
});
