import { expect, it } from 'vitest';
import { aWorld, nameOf } from '../../../../../test/support/worlds.ts';
import { statusOf } from '../../status/cluster-status.ts';
import { planCluster } from '../plan-cluster.ts';

const volume = (name: string, why = '', hasFailed = false) => ({
  ...{ name: nameOf(name), has: '1Gi', wanted: '2Gi', why, hasFailed },
});
const conditionsWith = (...growingVolumes: readonly ReturnType<typeof volume>[]) => {
  const world = { ...aWorld(), growingVolumes };
  return statusOf(world, planCluster(world)).conditions;
};

it('a cluster is Progressing until its PVCs are resized', () => {
  expect(conditionsWith()).toMatchObject([{}, { status: 'False' }, { status: 'False' }]);
  const message = 'resizing PersistentVolumeClaim db-0 from 1Gi to 2Gi; and 1 more';
  expect(conditionsWith(volume('db-0'), volume('db-1'))).toMatchObject([
    { type: 'Available', status: 'True' },
    { type: 'Progressing', status: 'True', reason: 'VolumeGrowing', message },
    { type: 'Degraded', status: 'False' },
  ]);
});

it('a PVC with a failed resize is reported before PVCs that are still being resized', () => {
  const message = 'resizing PersistentVolumeClaim db-1 from 1Gi to 2Gi (ControllerResizeError: full); and 1 more';
  expect(conditionsWith(volume('db-0'), volume('db-1', 'ControllerResizeError: full', true))).toMatchObject([
    {},
    { status: 'True', reason: 'VolumeStuck' },
    { type: 'Degraded', status: 'True', reason: 'VolumeStuck', message },
  ]);
});
