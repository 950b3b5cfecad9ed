import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlreadyExists } from '../../src/kube/errors.ts';
import { keyOf, type PersistentVolumeClaim, type Pod, type Stored } from '../../src/kube/object.ts';
import { persistentVolumeClaims as claims, pods } from '../../src/kube/resource.ts';
import { type Runnable, runTogether } from '../../src/runtime/manager.ts';
import { done, type Outcome } from '../../src/runtime/outcome.ts';
import { unless } from '../../src/std/failure.ts';
import { nanosOf } from '../../src/std/quantity.ts';
import { type PersistentVolume, persistentVolumes, type StorageClass, storageClasses } from '../kinds.ts';
import { isInside } from '../path-inside.ts';
import { type ControllerContext, claimsOf, controller } from './controller.ts';
import { removeFinalizer } from './finalizers.ts';

export const storageClassName = 'standard';
const provisioner = 'etcd-operator.lab/directory';
/** The value of a class's parameter `expansion` with which requested expansions never happen, for tests. */
const noExpansion = 'never';
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

/** Provisions a directory for every PVC, and removes it with its PVC. */
export function volumeClaims(context: ControllerContext, directory: string): Runnable {
  return async (signal) => {
    await context.client.create(storageClasses, storageClass).catch((thrown: unknown) => {
      if (!isAlreadyExists(thrown) && !signal.aborted) throw thrown;
    });
    await runTogether([binder(context, directory), reclaimer(context, directory)], signal);
  };
}

function binder(context: ControllerContext, directory: string): Runnable {
  const { stores } = context;
  return controller(context, {
    watch: (add) => {
      stores.claims.onChange(({ object }) => add(keyOf(object.metadata)));
      // A PVC under deletion stays as long as a pod uses it.
      stores.pods.onChange(({ object: pod }) => {
        for (const name of claimsOf(pod)) add(keyOf({ namespace: pod.metadata.namespace, name }));
      });
    },
    reconcile: async (key) => {
      const claim = stores.claims.get(key);
      if (claim === undefined) return done;
      if (claim.metadata.deletionTimestamp !== undefined) return await releaseIfUnused(context, claim);
      const kind = await classOf(context, claim);
      if (kind?.provisioner !== provisioner) return done;
      return await bind(context, claim, { directory, kind });
    },
  });
}

/** The class of a PVC. Users may create other classes with the same provisioner. */
async function classOf(
  { client }: ControllerContext,
  { spec }: Stored<PersistentVolumeClaim>,
): Promise<StorageClass | undefined> {
  const name = spec?.storageClassName ?? storageClassName;
  if (name === storageClassName) return storageClass;
  return await unless('not-found', client.get(storageClasses, { name }), undefined);
}

interface Provisioning {
  readonly directory: string;
  readonly kind: StorageClass;
}

async function releaseIfUnused(context: ControllerContext, claim: Stored<PersistentVolumeClaim>): Promise<Outcome> {
  const { client, stores } = context;
  const { namespace = '' } = claim.metadata;
  if (stores.pods.all().some((pod) => uses(pod, claim))) return done;
  // The cache may be stale.
  const { items } = await client.list(pods, { namespace });
  if (!items.some((pod) => uses(pod, claim))) await removeFinalizer(context, claimProtection, claim);
  return done;
}

/** True if a pod uses a PVC. An unscheduled pod does not: the scheduler waits until the PVC is gone. */
const uses = (pod: Pod, { metadata: { namespace, name } }: PersistentVolumeClaim): boolean =>
  pod.metadata.namespace === namespace &&
  pod.spec?.nodeName !== undefined &&
  pod.status?.phase !== 'Succeeded' &&
  pod.status?.phase !== 'Failed' &&
  claimsOf(pod).includes(name);

async function bind(
  context: ControllerContext,
  claim: Stored<PersistentVolumeClaim>,
  { directory, kind }: Provisioning,
): Promise<Outcome> {
  const { client } = context;
  const volume = volumeFor(claim, directory);
  const wanted = wantedSize(claim);
  if (claim.status?.phase !== 'Bound') await provision(context, claim, volume);
  else if (hasSize(claim, wanted) || kind.parameters?.['expansion'] === noExpansion) return done;
  else await client.patch(persistentVolumes, volume.metadata, sizeOf(wanted));
  const status = { phase: 'Bound', accessModes: claim.spec?.accessModes ?? [], capacity: { storage: wanted } };
  await client.patch(claims, claim.metadata, statusOf(status));
  return done;
}

const wantedSize = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.['storage'] ?? '0';

const hasSize = ({ status }: PersistentVolumeClaim, wanted: string): boolean =>
  nanosOf(status?.capacity?.['storage']) >= nanosOf(wanted);

const sizeOf = (storage: string) => ({ type: 'merge', body: { spec: { capacity: { storage } } } }) as const;

async function provision(
  { client }: ControllerContext,
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

/** Removes volumes of deleted PVCs. */
function reclaimer(context: ControllerContext, directory: string): Runnable {
  const { stores } = context;
  return controller(context, {
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
        if (await isAbandoned(context, volume)) await remove(context, volume, directory);
      } else if (isDeletedAndUnbound(volume)) await removeFinalizer(context, volumeProtection, volume);
      return done;
    },
  });
}

const isDeletedAndUnbound = ({ metadata, status }: PersistentVolume): boolean =>
  metadata.deletionTimestamp !== undefined && status?.phase !== 'Bound';

/** Removes only directories of the lab: a PersistentVolume may name any path. */
async function remove(context: ControllerContext, volume: Stored<PersistentVolume>, directory: string): Promise<void> {
  const path = volume.spec?.hostPath?.path;
  if (path !== undefined && path !== directory && isInside(directory, path))
    await rm(path, { recursive: true, force: true });
  await removeFinalizer(context, volumeProtection, volume);
  await unless('not-found', context.client.remove(persistentVolumes, volume.metadata), undefined);
}

const isOurs = ({ metadata }: PersistentVolume): boolean =>
  metadata.annotations?.['pv.kubernetes.io/provisioned-by'] === provisioner;

/** True if the PVC of a volume is gone. Asks the API server too: with a stale cache, data would be lost. */
async function isAbandoned(
  { client, stores }: ControllerContext,
  { spec }: Stored<PersistentVolume>,
): Promise<boolean> {
  const { namespace = '', name = '', uid } = spec?.claimRef ?? {};
  const isSamePvc = (claim: PersistentVolumeClaim | undefined): boolean => claim?.metadata.uid === uid;
  if (uid === undefined || isSamePvc(stores.claims.get(keyOf({ namespace, name })))) return false;
  return !isSamePvc(await unless('not-found', client.get(claims, { namespace, name }), undefined));
}
