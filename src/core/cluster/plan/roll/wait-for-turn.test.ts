import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  imageOf,
  withIntent,
  withMember,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import { planCluster } from '../plan-cluster.ts';

const atTheLimit: Change = (world) => ({ ...world, rollLimit: 20 });
const newVersion = withIntent({ version: '3.6.16' });

describe('a cluster that must wait for a turn', () => {
  it('rolls no member, and names the limit', () => {
    expect(planCluster(aWorld(newVersion))).toMatchObject({ is: 'act', reason: 'Upgrading' });
    expect(planCluster(aWorld(newVersion, atTheLimit))).toMatchObject({
      is: 'wait',
      reason: 'RollQueued',
      message: expect.stringContaining('20 clusters'),
    });
  });

  it('heals all the same: a silent outdated member is changed at once', () => {
    const silent: Change = withMember('db-1', { health: 'silent' });
    const stuck: Change = withMemberPod('db-1', {
      phase: 'stuck',
      ready: false,
      image: imageOf('3.5.0'),
      version: '3.5.0',
    });
    const world = aWorld(newVersion, silent, stuck);
    expect(planCluster({ ...world, rollLimit: 20 })).toEqual(planCluster(world));
    expect(planCluster(world)).toMatchObject({ is: 'act' });
  });

  it('grows and shrinks all the same', () => {
    for (const size of [1, 5])
      expect(planCluster(aWorld(withIntent({ size }), atTheLimit))).toMatchObject({ is: 'act' });
  });
});
