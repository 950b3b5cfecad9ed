import { expect, it } from 'vitest';
import { aWorld, nameOf } from '../../../../test/support/worlds.ts';
import { statusOf } from '../../status/cluster-status.ts';
import { planCluster } from './plan-cluster.ts';

const disk = (name: string, why = '', hasFailed = false) => ({
  ...{ name: nameOf(name), has: '1Gi', wanted: '2Gi', why, hasFailed },
});
const conditionsWith = (...growingDisks: readonly ReturnType<typeof disk>[]) => {
  const world = { ...aWorld(), growingDisks };
  return statusOf(world, planCluster(world)).conditions;
};

it('a cluster is not as desired before its volumes have grown', () => {
  expect(conditionsWith()).toMatchObject([{}, { status: 'False' }, { status: 'False' }]);
  const message = 'PersistentVolumeClaim db-0 is asked for 2Gi and has 1Gi; and 1 more';
  expect(conditionsWith(disk('db-0'), disk('db-1'))).toMatchObject([
    { type: 'Available', status: 'True' },
    { type: 'Progressing', status: 'True', reason: 'VolumeGrowing', message },
    { type: 'Degraded', status: 'False' },
  ]);
});

it('one that could not grow is told before those that still may', () => {
  const message = 'PersistentVolumeClaim db-1 is asked for 2Gi and has 1Gi (ControllerResizeError: full); and 1 more';
  expect(conditionsWith(disk('db-0'), disk('db-1', 'ControllerResizeError: full', true))).toMatchObject([
    {},
    { status: 'True', reason: 'VolumeStuck' },
    { type: 'Degraded', status: 'True', reason: 'VolumeStuck', message },
  ]);
});
