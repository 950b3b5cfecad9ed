import { expect, it } from 'vitest';
import { aWorld, outOfContact, wanting, withCarrier } from '../../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';

/** Two of three founders cannot start. */
const founding = (size: number): ClusterWorld => {
  const stuck = { phase: 'stuck', why: 'no node', ready: false, hasRun: false } as const;
  const world = aWorld(outOfContact(), wanting(size), withCarrier('db-1', stuck), withCarrier('db-2', stuck));
  return { ...world, memory: { ...world.memory, clusterId: undefined, voters: [] } };
};

it('says what keeps a founder from starting', () =>
  expect(planCluster(founding(3))).toMatchObject({ reason: 'MemberStuck', message: 'db-1 cannot start: no node' }));

it('says what to do where fewer are wanted by now than were to found the cluster', () =>
  expect(planCluster(founding(1))).toMatchObject({
    reason: 'MemberStuck',
    message: expect.stringContaining('delete this cluster and declare it again'),
  }));
