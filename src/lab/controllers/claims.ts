import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlreadyExists } from '../../kube/errors.ts';
import { keyOf, type PersistentVolumeClaim, type Pod, type Stored } from '../../kube/object.ts';
import { persistentVolumeClaims as claims, pods } from '../../kube/resource.ts';
import { type Runnable, runTogether } from '../../runtime/manager.ts';
import { done, type Outcome } from '../../runtime/outcome.ts';
import { unless } from '../../std/failure.ts';
import { isInside } from '../inside.ts';
import { type PersistentVolume, persistentVolumes, type StorageClass, storageClasses } from '../kinds.ts';
import { quantityOf } from '../node/quantity.ts';
import { claimsOf, controller, type Tools } from './controller.ts';
import { lift } from './finalizers.ts';

export const storageClassName = 'standard';
const provisioner = 'etcd-operator.lab/directory';
/** What the parameter `expansion` of a class says where claims may ask for more, and get nothing. */
const neverHappens = 'never';
const claimProtection = { resource: claims, finalizer: 'kubernetes.io/pvc-protection' };
const volumeProtection = { resource: persistentVolumes, finalizer: 'kubernetes.io/pv-protection' };

const storageClass: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: storageClassName, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  allowVolumeExpansion: true,
};

/** Makes a directory for every claim, and removes it with its claim. */
export function volumeClaims(tools: Tools, directory: string): Runnable {
  return async (signal) => {
    await tools.client.create(storageClasses, storageClass).catch((thrown: unknown) => {
      if (!isAlreadyExists(thrown) && !signal.aborted) throw thrown;
    });
    await runTogether([binder(tools, directory), reclaimer(tools, directory)], signal);
  };
}

function binder(tools: Tools, directory: string): Runnable {
  const { stores } = tools;
  return controller(tools, {
    watch: (add) => {
      stores.claims.onChange(({ object }) => add(keyOf(object.metadata)));
      // A claim that was asked to go stays as long as a pod uses it.
      stores.pods.onChange(({ object: pod }) => {
        for (const name of claimsOf(pod)) add(keyOf({ namespace: pod.metadata.namespace, name }));
      });
    },
    reconcile: async (key) => {
      const claim = stores.claims.get(key);
      if (claim === undefined) return done;
      if (claim.metadata.deletionTimestamp !== undefined) return await release(tools, claim);
      const kind = await classOf(tools, claim);
      if (kind?.provisioner !== provisioner) return done;
      return await bind(tools, claim, { directory, kind });
    },
  });
}

/** Others may be made by hand, of the same provisioner. */
async function classOf({ client }: Tools, { spec }: Stored<PersistentVolumeClaim>): Promise<StorageClass | undefined> {
  const name = spec?.storageClassName ?? storageClassName;
  if (name === storageClassName) return storageClass;
  return await unless('not-found', client.get(storageClasses, { name }), undefined);
}

interface Making {
  readonly directory: string;
  readonly kind: StorageClass;
}

async function release(tools: Tools, claim: Stored<PersistentVolumeClaim>): Promise<Outcome> {
  const { client, stores } = tools;
  const { namespace = '' } = claim.metadata;
  if (stores.pods.all().some((pod) => uses(pod, claim))) return done;
  // The cache may be late.
  const { items } = await client.list(pods, { namespace });
  if (!items.some((pod) => uses(pod, claim))) await lift(tools, claimProtection, claim);
  return done;
}

/** One that is on no node yet does not: it will not come to one before the claim is gone. */
const uses = (pod: Pod, { metadata: { namespace, name } }: PersistentVolumeClaim): boolean =>
  pod.metadata.namespace === namespace &&
  pod.spec?.nodeName !== undefined &&
  pod.status?.phase !== 'Succeeded' &&
  pod.status?.phase !== 'Failed' &&
  claimsOf(pod).includes(name);

async function bind(tools: Tools, claim: Stored<PersistentVolumeClaim>, { directory, kind }: Making): Promise<Outcome> {
  const { client } = tools;
  const volume = volumeFor(claim, directory);
  const wanted = wantedSize(claim);
  if (claim.status?.phase !== 'Bound') await provision(tools, claim, volume);
  else if (hasSize(claim, wanted) || kind.parameters?.['expansion'] === neverHappens) return done;
  else await client.patch(persistentVolumes, volume.metadata, sizeOf(wanted));
  const status = { phase: 'Bound', accessModes: claim.spec?.accessModes ?? [], capacity: { storage: wanted } };
  await client.patch(claims, claim.metadata, statusOf(status));
  return done;
}

const wantedSize = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.['storage'] ?? '0';

const hasSize = ({ status }: PersistentVolumeClaim, wanted: string): boolean =>
  quantityOf(status?.capacity?.['storage'] ?? '0') >= quantityOf(wanted);

const sizeOf = (storage: string) => ({ type: 'merge', body: { spec: { capacity: { storage } } } }) as const;

async function provision(
  { client }: Tools,
  claim: Stored<PersistentVolumeClaim>,
  volume: PersistentVolume,
): Promise<void> {
  const path = volume.spec?.hostPath?.path ?? '';
  await mkdir(path, { recursive: true });
  await chmod(path, 0o777);
  await client.create(persistentVolumes, volume).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown;
  });
  await client.patch(persistentVolumes, volume.metadata, statusOf({ phase: 'Bound' }));
  const annotations = { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' };
  const body = { metadata: { annotations }, spec: { volumeName: volume.metadata.name } };
  await client.patch(claims, claim.metadata, { type: 'merge', body });
}

const statusOf = (status: object) => ({ type: 'merge', body: { status }, subresource: 'status' }) as const;

function volumeFor(claim: Stored<PersistentVolumeClaim>, directory: string): PersistentVolume {
  const { metadata, spec } = claim;
  const name = `pvc-${metadata.uid}`;
  const { namespace = '', uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': provisioner } },
    spec: {
      accessModes: spec?.accessModes ?? [],
      capacity: { storage: wantedSize(claim) },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: metadata.name, uid },
      hostPath: { path: join(directory, name), type: 'DirectoryOrCreate' },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: spec?.storageClassName ?? storageClassName,
      volumeMode: 'Filesystem',
    },
  };
}

/** Removes the volumes whose claims are gone. */
function reclaimer(tools: Tools, directory: string): Runnable {
  const { stores } = tools;
  return controller(tools, {
    watch: (add) => {
      stores.volumes.onChange(({ object }) => add(object.metadata.name));
      stores.claims.onChange(({ type, object }) => {
        if (type === 'deleted') add(`pvc-${object.metadata.uid}`);
      });
    },
    reconcile: async (name) => {
      const volume = stores.volumes.get(name);
      if (volume === undefined) return done;
      if (isOurs(volume)) {
        if (await isAbandoned(tools, volume)) await remove(tools, volume, directory);
      } else if (isLeaving(volume)) await lift(tools, volumeProtection, volume);
      return done;
    },
  });
}

const isLeaving = ({ metadata, status }: PersistentVolume): boolean =>
  metadata.deletionTimestamp !== undefined && status?.phase !== 'Bound';

/** A PersistentVolume may name any path: only directories of the lab's own are removed. */
async function remove(tools: Tools, volume: Stored<PersistentVolume>, directory: string): Promise<void> {
  const path = volume.spec?.hostPath?.path;
  if (path !== undefined && path !== directory && isInside(directory, path))
    await rm(path, { recursive: true, force: true });
  await lift(tools, volumeProtection, volume);
  await unless('not-found', tools.client.remove(persistentVolumes, volume.metadata), undefined);
}

const isOurs = ({ metadata }: PersistentVolume): boolean =>
  metadata.annotations?.['pv.kubernetes.io/provisioned-by'] === provisioner;

/** The cache may be late: data is removed only when the server itself says that its claim is no more. */
async function isAbandoned({ client, stores }: Tools, { spec }: Stored<PersistentVolume>): Promise<boolean> {
  const { namespace = '', name = '', uid } = spec?.claimRef ?? {};
  const isStill = (claim: PersistentVolumeClaim | undefined): boolean => claim?.metadata.uid === uid;
  if (uid === undefined || isStill(stores.claims.get(keyOf({ namespace, name })))) return false;
  return !isStill(await unless('not-found', client.get(claims, { namespace, name }), undefined));
}
