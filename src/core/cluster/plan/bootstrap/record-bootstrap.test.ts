import { describe, expect, it } from 'vitest';
import { aMemberPod, aWorld, nameOf, untouched, wanting, withIntent } from '../../../../../test/support/worlds.ts';
import { freeOrdinals } from '../../model/ordinals.ts';
import { recordBootstrap } from './record-bootstrap.ts';
import { startBootstrapMembers } from './start-bootstrap-members.ts';

/** The bootstrap members of a cluster of that size with these retained PVCs. */
function bootstrapMembers(size: number, left: readonly string[]): readonly string[] {
  const retainedVolumes = left.map(nameOf);
  const spareNames = freeOrdinals('db', new Set(left), 9);
  const world = {
    ...aWorld(untouched(), wanting(size), withIntent({ memberNames: 'ordinal' })),
    retainedVolumes,
    spareNames,
  };
  const verdict = recordBootstrap(world);
  const [step] = verdict?.is === 'act' ? verdict.steps : [];
  return step?.kind === 'record-bootstrap' ? step.bootstrap.members : [];
}

describe('the bootstrap members of a cluster', () => {
  it('are as many as spec.size, with the lowest numbers', () => {
    expect(bootstrapMembers(3, [])).toEqual(['db-0', 'db-1', 'db-2']);
  });

  it('are exactly the members with retained PVCs', () => {
    expect(bootstrapMembers(3, ['db-1'])).toEqual(['db-1']);
    expect(bootstrapMembers(1, ['db-2', 'db-10', 'db-0'])).toEqual(['db-0', 'db-2', 'db-10']);
  });

  it('are named in the message, with a remedy if the retained PVCs are too few', () => {
    const bootstrap = { members: [nameOf('db-0')], token: 't', onRetainedVolumes: true };
    const forming = aWorld(untouched(), wanting(3));
    const world = { ...forming, memberPods: [{ ...aMemberPod(nameOf('db-0')), ready: false }] };
    const verdict = startBootstrapMembers({ ...world, memory: { ...world.memory, bootstrap } });
    expect(verdict).toMatchObject({ is: 'wait', reason: 'Forming', message: expect.stringContaining('for db-0 to') });
    expect(verdict).toMatchObject({ message: expect.stringContaining('fewer than a majority') });
  });

  it('are not recorded for a version that loses data or is unsupported, except with retained PVCs', () => {
    const verdictOn = (version: string, left: readonly string[] = []) =>
      recordBootstrap({
        ...aWorld(untouched(), wanting(1), withIntent({ version })),
        retainedVolumes: left.map(nameOf),
      });
    for (const version of ['3.5.1', '2.3.8', '99.0.0'])
      expect(verdictOn(version)).toMatchObject({
        ...{ is: 'wait', reason: 'BadSpec', needsUserAction: true },
        message: expect.stringContaining(`spec.version: etcd ${version}`),
      });
    expect(verdictOn('3.5.3')).toMatchObject({ is: 'act' });
    expect(verdictOn('3.5.1', ['db-0'])).toMatchObject({ is: 'act' });
  });

  it('are recorded once', () => {
    const world = aWorld(untouched());
    const memory = { ...world.memory, bootstrap: { members: [nameOf('db-0')], token: 't' } };
    expect(recordBootstrap({ ...world, memory })).toBeUndefined();
  });
});
