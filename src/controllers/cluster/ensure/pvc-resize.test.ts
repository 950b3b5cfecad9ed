import { expect, it } from 'vitest';
import { aWorld } from '../../../../test/support/worlds.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import type { NamespacedName, PersistentVolumeClaim } from '../../../kube/object.ts';
import { byLabel, byOwner, Store } from '../../../runtime/store.ts';
import { Failure } from '../../../std/failure.ts';
import { clusterIndex, ownerIndex } from '../../shared/context.ts';
import type { Writer } from '../../shared/writer.ts';
import { failureOf } from '../failure-report.ts';
import { resizePvcs } from './pvc-resize.ts';

const sized = (storage: string) => ({ resources: { requests: { storage } } });
const read = coreos.read({
  metadata: { name: 'db', namespace: 'default', uid: 'u' },
  spec: { size: 1, pod: { persistentVolumeClaimSpec: { accessModes: ['ReadWriteOnce'], ...sized('2Gi') } } },
});
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;

/** Returns the writes to two PVCs of 1Gi while the spec asks for 2Gi. The first write may be refused. */
async function written(phase: string, refusal?: Failure, world = aWorld()) {
  const claims = new Store<PersistentVolumeClaim>({
    ...{
      indexes: { [ownerIndex]: byOwner, [clusterIndex]: byLabel('etcd_cluster') },
      onHandlerFailure: () => undefined,
    },
  });
  for (const name of ['db-0', 'db-1']) {
    const metadata = { name, namespace: 'default', uid: name, ownerReferences: [blueprint.owner] };
    claims.put({ kind: 'PersistentVolumeClaim', metadata, spec: sized('1Gi'), status: { phase } } as never);
  }
  const on: Record<string, unknown> = {};
  const patch = async (
    _: unknown,
    { name }: NamespacedName,
    { body }: { readonly body: { readonly spec?: unknown } },
  ) => {
    if (name === 'db-0' && body.spec !== undefined && refusal !== undefined) throw refusal;
    on[name] = body;
  };
  const growing = resizePvcs(blueprint, world, { caches: { claims } as never, writer: { patch } as never as Writer });
  return { failure: await failureOf(growing), on };
}

const grown = { spec: sized('2Gi') };
const noted = { metadata: { annotations: { 'etcd.database.coreos.com/cannot-grow-to': '2Gi' } } };
const forbidden = (why: string) => new Failure('forbidden', `persistentvolumeclaims "db-0" is forbidden: ${why}`);

it('a bound PVC is resized', async () => {
  expect(await written('Bound')).toMatchObject({ failure: undefined, on: { 'db-0': grown, 'db-1': grown } });
  expect(await written('Pending')).toEqual({ failure: undefined, on: {} });
  expect(await written('Lost')).toEqual({ failure: undefined, on: {} });
});

it('a PVC is annotated if its StorageClass allows no expansion', async () => {
  const refusal = forbidden(
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  );
  expect(await written('Bound', refusal)).toMatchObject({ failure: undefined, on: { 'db-0': noted, 'db-1': grown } });
});

it.each([
  forbidden('exceeded quota: storage'),
  forbidden('maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi'),
  forbidden('ValidatingAdmissionPolicy "sizes" denied request: at most 1Gi'),
  new Failure('rejected', 'admission webhook "policy.example.com" denied the request'),
  new Failure('rejected', 'spec.resources.requests.storage: Forbidden: field can not be less than previous value'),
])('another refusal is reported and not annotated, and other PVCs are resized: %s', async (refusal) => {
  const { failure, on } = await written('Bound', refusal);
  expect(failure).toBe(refusal);
  expect(on).toEqual({ 'db-1': expect.objectContaining(grown) });
});

it('no PVC is resized while the owner of the PVCs is uncertain', async () => {
  const { memory } = aWorld();
  const { on } = await written('Bound', undefined, { ...aWorld(), memory: { ...memory, ambiguity: 'uncertain' } });
  expect(on).toEqual({});
});
