import { expect, it } from 'vitest';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import type { PersistentVolumeClaim, Stored } from '../../../kube/object.ts';
import { growingVolumes } from './growing-pvcs.ts';

const sized = (storage: string) => ({ resources: { requests: { storage } } });
const read = coreos.read({
  metadata: { name: 'db', namespace: 'default', uid: 'u' },
  spec: { size: 3, pod: { persistentVolumeClaimSpec: { accessModes: ['ReadWriteOnce'], ...sized('2Gi') } } },
});
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;

interface Given {
  readonly asks: string;
  readonly has?: string;
  readonly metadata?: object;
  readonly status?: object;
}

const growing = ({ asks, has, metadata, status }: Given) => {
  const capacity = has === undefined ? undefined : { storage: has };
  const claim = { metadata: { name: 'db-0', ...metadata }, spec: sized(asks), status: { capacity, ...status } };
  return growingVolumes([claim as unknown as Stored<PersistentVolumeClaim>], blueprint);
};

it('a volume is growing until it has the size that its PVC or the spec requests', () => {
  const db0 = { name: 'db-0', has: '1Gi', wanted: '2Gi', why: '', hasFailed: false };
  expect(growing({ asks: '1Gi', has: '1Gi' })).toEqual([db0]);
  expect(growing({ asks: '2Gi', has: '1Gi' })).toEqual([db0]);
  expect(growing({ asks: '2Gi', has: '2048Mi' })).toEqual([]);
  expect(growing({ asks: '1Gi', has: '10Gi' })).toEqual([]);
});

it('a PVC without a volume, a deleted PVC and a PVC that cannot grow are not growing', () => {
  expect(growing({ asks: '2Gi' })).toEqual([]);
  expect(growing({ asks: '2Gi', has: '1Gi', metadata: { deletionTimestamp: 'now' } })).toEqual([]);
  const annotations = { [`${blueprint.naming.prefix}/cannot-grow-to`]: '2Gi' };
  expect(growing({ asks: '1Gi', has: '1Gi', metadata: { annotations } })).toEqual([]);
});

it('a growing volume has the resize status of Kubernetes', () => {
  const condition = (type: string, message: string) => ({ conditions: [{ type, status: 'True', message }] });
  const [waits] = growing({ asks: '2Gi', has: '1Gi', status: condition('FileSystemResizePending', 'start a pod') });
  expect(waits).toMatchObject({ why: 'FileSystemResizePending: start a pod', hasFailed: false });
  const [failed] = growing({ asks: '2Gi', has: '1Gi', status: condition('ControllerResizeError', 'no space') });
  expect(failed).toMatchObject({ why: 'ControllerResizeError: no space', hasFailed: true });
  const allocatedResourceStatuses = { storage: 'ControllerResizeInfeasible' };
  const [never] = growing({ asks: '2Gi', has: '1Gi', status: { allocatedResourceStatuses } });
  expect(never).toMatchObject({ why: 'ControllerResizeInfeasible', hasFailed: true });
});
