import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { type ApiResponse, contract, done, isLab, type Json, refusal } from './support.ts';

const { create, patch, request, namespace } = contract('volumes');

const [growing, fixed] = [`${namespace}-growing`, `${namespace}-fixed`];
const gibibyte = { requests: { storage: '1Gi' } };
const claimPath = (name: string): string => `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`;
const volumePath = (name: string): string => `/api/v1/persistentvolumes/${name}`;

/** Creates a PVC. Its StorageClass has no provisioner. */
const claim = (name: string, spec: object): Promise<Json> =>
  done(
    create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources: gibibyte, ...spec },
    }),
  );

/** Creates a StorageClass, a PV of that class, and a PVC bound to the PV. */
async function boundClaim(name: string, className: string, allowVolumeExpansion: boolean): Promise<void> {
  const metadata = { name: className };
  const shared = { accessModes: ['ReadWriteOnce'], storageClassName: className };
  const storageClass = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata };
  await done(create({ ...storageClass, provisioner: 'example.com/none', allowVolumeExpansion }));
  const csi = { driver: 'example.com', volumeHandle: name };
  const spec = { ...shared, capacity: gibibyte.requests, csi };
  await done(create({ apiVersion: 'v1', kind: 'PersistentVolume', metadata, spec }));
  await claim(name, { storageClassName: className, volumeName: className });
  const status = { phase: 'Bound', capacity: gibibyte.requests };
  if (isLab) await done(patch(`${claimPath(name)}/status`, { status }));
  await until(`${name} is bound`, async () => {
    const bound = (await done(request('GET', claimPath(name)))) as { status: { phase?: string } };
    return bound.status.phase === 'Bound' || undefined;
  });
}

const changed = (name: string, spec: object): Promise<ApiResponse> => patch(claimPath(name), { spec });
const resized = (name: string, storage: string): Promise<ApiResponse> =>
  changed(name, { resources: { requests: { storage } } });
const sizeOf = async (name: string): Promise<string> => {
  const { spec } = (await done(request('GET', claimPath(name)))) as { spec: { resources: typeof gibibyte } };
  return spec.resources.requests.storage;
};

beforeAll(async () => {
  await boundClaim('grows', growing, true);
  await boundClaim('stays', fixed, false);
  await claim('waits', { storageClassName: growing });
});
afterAll(async () => {
  for (const path of [growing, fixed].flatMap((name) => [
    `/apis/storage.k8s.io/v1/storageclasses/${name}`,
    volumePath(name),
  ]))
    await request('DELETE', path);
});

describe('a PVC and its PV', () => {
  const metadataOf = async (path: string) =>
    (await done(request('GET', path)))['metadata'] as { finalizers?: string[]; deletionTimestamp?: string };
  const protection = async (path: string) => (await metadataOf(path)).finalizers;

  it('get the protection finalizers at creation, in addition to finalizers of the user', async () => {
    expect(await protection(claimPath('grows'))).toEqual(['kubernetes.io/pvc-protection']);
    expect(await protection(volumePath(growing))).toEqual(['kubernetes.io/pv-protection']);
    const metadata = { name: 'held', finalizers: ['example.com/held'] };
    const spec = { accessModes: ['ReadWriteOnce'], resources: gibibyte, storageClassName: growing };
    await done(create({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec }));
    expect(await protection(claimPath('held'))).toEqual(['example.com/held', 'kubernetes.io/pvc-protection']);
    await done(patch(claimPath('held'), { metadata: { finalizers: ['kubernetes.io/pvc-protection'] } }));
  });

  it('stay after deletion while the PV is bound', async () => {
    await done(request('DELETE', volumePath(fixed)));
    expect(await metadataOf(volumePath(fixed))).toMatchObject({
      deletionTimestamp: expect.any(String),
      finalizers: ['kubernetes.io/pv-protection'],
    });
  });
});

describe('a resize of a PVC', () => {
  it('grows a bound PVC, and shrinks the request only down to status.capacity', async () => {
    await done(resized('grows', '2Gi'));
    expect(await sizeOf('grows')).toBe('2Gi');
    await done(resized('grows', '1536Mi'));
    expect(await sizeOf('grows')).toBe('1536Mi');
    for (const less of ['1Gi', '512Mi'])
      expect(await refusal(resized('grows', less))).toContain(
        'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
      );
    expect(await sizeOf('grows')).toBe('1536Mi');
  });

  it('is forbidden if the StorageClass does not allow volume expansion', async () => {
    expect(await refusal(resized('stays', '2Gi'))).toContain(
      'persistentvolumeclaims "stays" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
    expect(await refusal(resized('stays', '512Mi'))).toContain('field can not be less than status.capacity');
  });

  it('is forbidden before the PVC is bound', async () => {
    expect(await refusal(resized('waits', '2Gi'))).toContain('spec: Forbidden: spec is immutable after creation');
  });

  it('is the only change allowed to the spec of a bound PVC', async () => {
    for (const spec of [
      { accessModes: ['ReadWriteMany'] },
      { storageClassName: fixed },
      { resources: { limits: { storage: '5Gi' } } },
    ])
      expect(await refusal(changed('grows', spec))).toContain('spec: Forbidden: spec is immutable after creation');
  });
});
