import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contract, isLab } from './support.ts';

const { kubectl, namespace } = contract('volumes');

const [growing, fixed] = [`${namespace}-growing`, `${namespace}-fixed`];
const gibibyte = { requests: { storage: '1Gi' } };

const create = (object: object): Promise<string> => kubectl('create -f -', { input: JSON.stringify(object) });

/** A claim of a class that nobody provides volumes for. */
const claim = (name: string, spec: object): Promise<string> =>
  create({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: gibibyte, ...spec },
  });

/** A class, a volume of it, and a claim that has the volume. */
async function boundClaim(name: string, className: string, allowVolumeExpansion: boolean): Promise<void> {
  const metadata = { name: className };
  const shared = { accessModes: ['ReadWriteOnce'], storageClassName: className };
  const storageClass = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata };
  await create({ ...storageClass, provisioner: 'example.com/none', allowVolumeExpansion });
  const csi = { driver: 'example.com', volumeHandle: name };
  await create({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata,
    spec: { ...shared, capacity: gibibyte.requests, csi },
  });
  await claim(name, { storageClassName: className, volumeName: className });
  const status = { phase: 'Bound', capacity: gibibyte.requests };
  if (isLab) await kubectl(`patch pvc ${name} --subresource=status --type=merge -p '${JSON.stringify({ status })}'`);
  await kubectl(`wait pvc/${name} --for=jsonpath={.status.phase}=Bound --timeout=60s`);
}

const resize = (name: string, storage: string): string =>
  `patch pvc ${name} --type=merge -p '${JSON.stringify({ spec: { resources: { requests: { storage } } } })}'`;
const sizeOf = (name: string): Promise<string> =>
  kubectl(`get pvc ${name} -o jsonpath={.spec.resources.requests.storage}`);

beforeAll(async () => {
  await boundClaim('grows', growing, true);
  await boundClaim('stays', fixed, false);
  await claim('waits', { storageClassName: growing });
});
afterAll(async () => {
  for (const name of [growing, fixed]) await kubectl(`delete storageclass/${name} pv/${name} --wait=false`);
});

describe('a claim and its volume', () => {
  const protection = (what: string): Promise<string> => kubectl(`get ${what} -o jsonpath={.metadata.finalizers}`);

  it('are protected from the moment they are made, beside what their makers ask for', async () => {
    expect(await protection('pvc/grows')).toBe('["kubernetes.io/pvc-protection"]');
    expect(await protection(`pv/${growing}`)).toBe('["kubernetes.io/pv-protection"]');
    const metadata = { name: 'held', finalizers: ['example.com/held'] };
    const spec = { accessModes: ['ReadWriteOnce'], resources: gibibyte, storageClassName: growing };
    await create({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec });
    expect(await protection('pvc/held')).toBe('["example.com/held","kubernetes.io/pvc-protection"]');
    await kubectl(`patch pvc held --type=merge -p '{"metadata":{"finalizers":["kubernetes.io/pvc-protection"]}}'`);
  });

  it('stay while the volume is bound, although they were deleted', async () => {
    await kubectl(`delete pv/${fixed} --wait=false`);
    await kubectl(`wait pv/${fixed} --for=jsonpath={.metadata.deletionTimestamp} --timeout=10s`);
    expect(await protection(`pv/${fixed}`)).toBe('["kubernetes.io/pv-protection"]');
  });
});

describe('a claim', () => {
  it('can ask for more once it is bound, and for less again only as long as it has not got it', async () => {
    await kubectl(resize('grows', '2Gi'));
    expect(await sizeOf('grows')).toBe('2Gi');
    await kubectl(resize('grows', '1536Mi'));
    expect(await sizeOf('grows')).toBe('1536Mi');
    for (const less of ['1Gi', '512Mi'])
      expect(await kubectl.refused(resize('grows', less))).toContain(
        'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
      );
    expect(await sizeOf('grows')).toBe('1536Mi');
  });

  it('cannot where its class does not let it', async () => {
    expect(await kubectl.refused(resize('stays', '2Gi'))).toContain(
      'persistentvolumeclaims "stays" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
    expect(await kubectl.refused(resize('stays', '512Mi'))).toContain('field can not be less than status.capacity');
  });

  it('cannot before it is bound', async () => {
    expect(await kubectl.refused(resize('waits', '2Gi'))).toContain(
      'spec: Forbidden: spec is immutable after creation',
    );
  });

  it('changes in nothing else', async () => {
    const change = (spec: object): string => `patch pvc grows --type=merge -p '${JSON.stringify({ spec })}'`;
    for (const spec of [
      { accessModes: ['ReadWriteMany'] },
      { storageClassName: fixed },
      { resources: { limits: { storage: '5Gi' } } },
    ])
      expect(await kubectl.refused(change(spec))).toContain('spec: Forbidden: spec is immutable after creation');
  });
});
