import { expect, it } from 'vitest';
import { aWorld, withIntent } from '../../../test/support/worlds.ts';
import { planCluster } from '../plan/cluster/plan-cluster.ts';
import { statusOf } from './cluster-status.ts';
import { delayed } from './delay.ts';

it('tells by what an upgrade is held up, and of other steps nothing that passes by itself', () => {
  const world = aWorld(withIntent({ version: '3.6.16' }));
  const upgrade = delayed(planCluster(world), 'the cluster has not arrived at etcd 3.5 yet');
  expect(statusOf(world, upgrade, undefined).conditions).toContainEqual({
    ...{ type: 'Progressing', status: 'True', reason: 'Upgrading' },
    message: 'upgrading to 3.6.16: the cluster has not arrived at etcd 3.5 yet',
  });
  const growth = planCluster(aWorld(withIntent({ size: 5 })));
  expect(delayed(growth, 'too soon')).toBe(growth);
  expect(delayed(planCluster(world), undefined)).toEqual(planCluster(world));
});
