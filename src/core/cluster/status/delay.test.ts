import { expect, it } from 'vitest';
import { aWorld, withIntent } from '../../../../test/support/worlds.ts';
import { planCluster } from '../plan/plan-cluster.ts';
import { statusOf } from './cluster-status.ts';
import { delayed } from './delay.ts';

it('the message of an upgrade contains the cause of a delay; messages of other steps do not', () => {
  const world = aWorld(withIntent({ version: '3.6.16' }));
  const upgrade = delayed(planCluster(world), 'the cluster version is not yet 3.5');
  expect(statusOf(world, upgrade, undefined).conditions).toContainEqual({
    ...{ type: 'Progressing', status: 'True', reason: 'Upgrading' },
    message: 'upgrading to 3.6.16: the cluster version is not yet 3.5',
  });
  const growth = planCluster(aWorld(withIntent({ size: 5 })));
  expect(delayed(growth, 'too soon')).toBe(growth);
  expect(delayed(planCluster(world), undefined)).toEqual(planCluster(world));
});
