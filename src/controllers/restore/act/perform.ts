import type { ReadRestore } from '../../../apis/common/restore-dialect.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { agentPod } from '../../../core/manifests/agent-pod.ts';
import { servingLabel } from '../../../core/manifests/labels.ts';
import { type Seeding, seedClaim, seedPod } from '../../../core/manifests/seed-pod.ts';
import type { Seed } from '../../../core/restore/model.ts';
import type { RestoreStep } from '../../../core/restore/step.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import type { KubeObject, Stored } from '../../../kube/object.ts';
import { persistentVolumeClaims, pods, type Resource } from '../../../kube/resource.ts';
import { Failure } from '../../../std/failure.ts';
import { scheduledAt } from '../../shared/agent-pods.ts';
import type { ClusterObject } from '../../shared/context.ts';
import { publish } from '../../shared/status-writer.ts';
import type { Writer } from '../../shared/writer.ts';
import type { RestoreContext } from '../context.ts';
import { restoreFinalizer } from '../finalizer.ts';
import { labelsOf, madeByAnnotation } from '../pods-and-pvcs.ts';
import { accessFor } from '../store-proxy-objects.ts';
import type { Target } from '../target.ts';
import { imageOf } from './agent-image.ts';
import { prepareCertificates, transferSecrets } from './certificates.ts';
import { createCluster } from './create-cluster.ts';
import { type Discard, discard, isDiscard, ownObject, removeAll } from './discard.ts';
import { keepOld, setAside } from './old-volumes.ts';
import { isStoreProxyStep, performOnStoreProxy, type StoreProxyStep } from './store-proxy.ts';

/** The step context of a restore. */
export interface RestoreStepContext extends Omit<StepInput, 'target'> {
  readonly target: Target;
}

interface StepInput {
  readonly object: Stored<ClusterObject>;
  readonly read: ReadRestore;
  /** Undefined if the EtcdCluster is gone. */
  readonly target: Target | undefined;
  readonly controller: RestoreContext;
  readonly writer: Writer;
}

/** Performs one step. Each step is idempotent. */
export async function performRestore(step: RestoreStep, { target, ...input }: StepInput): Promise<void> {
  if (step.kind === 'prove') return prove({ ...input, target });
  if (step.kind === 'pin' || step.kind === 'unpin') return pin(step.kind === 'pin', input);
  if (isStoreProxyStep(step)) return performOnStoreProxy(step, input);
  if (isDiscard(step)) return discard(step, input);
  if (target === undefined) throw new Failure('bug', 'restore step without a target cluster');
  return performOn(step, { ...input, target });
}

type OnCluster = Exclude<RestoreStep, Discard | StoreProxyStep | { readonly kind: 'prove' | 'pin' | 'unpin' }>;

async function performOn(step: OnCluster, context: RestoreStepContext): Promise<void> {
  switch (step.kind) {
    case 'start-seed':
      return startSeed(step.name, context);
    case 'issue-certificates':
    case 'stage-certificates':
      return prepareCertificates(step, context);
    case 'transfer-secrets':
      return transferSecrets(step, context);
    case 'create-cluster':
      return createCluster(context);
    case 'hold-cluster':
      return hold(context.read.intent.uid, context);
    case 'release-cluster':
      return hold(null, context);
    case 'stop-pods':
      return removeAll(pods, step.pods, context);
    case 'set-aside':
      return setAside(step.claims, context);
    case 'keep-old-data':
      return keepOld(step.claims, context);
    case 'hand-over':
      return handOver(step.seed, context);
    case 'rewrite-memory':
      return rewriteMemory(step, context);
    default:
      return step satisfies never;
  }
}

/** Starts the agent that inspects the backup before anything is created. The seed reads the backup to its end later. */
async function prove({ read, target, controller, writer }: StepInput): Promise<void> {
  const { intent, owner } = read;
  const { args, mounts, labels } = accessFor(intent);
  const version = target?.read.blueprint.intent.version;
  const wanted = agentPod({
    name: `${intent.name.slice(0, 45).replace(/[^a-z0-9]+$/, '')}-inspect-${intent.uid.slice(0, 8)}`,
    namespace: intent.namespace,
    labels: { ...labelsOf(controller), ...labels },
    annotations: scheduledAt(controller.dialect.group, intent.createdAt),
    owner,
    image: imageOf(controller),
    calls: [
      {
        name: 'inspect',
        args: ['inspect', ...args, ...versionArguments(version), ...(usesSavedSpec(read) ? ['--report-cluster'] : [])],
      },
    ],
    mounts,
    deadlineSeconds: 600,
    serviceAccountName: intent.serviceAccountName,
  });
  await createIfMissing(pods, wanted, writer);
}

/** The etcd version that is to read the backup, if it is known yet. */
const versionArguments = (version: string | undefined): readonly string[] =>
  version === undefined ? [] : ['--target-version', version];

/** True if the new cluster gets the spec that is saved in the backup. */
const usesSavedSpec = ({ template }: ReadRestore): boolean => template === 'in-backup';

async function createIfMissing<T extends KubeObject>(
  resource: Resource<T>,
  wanted: object,
  writer: Writer,
): Promise<void> {
  await writer.create(resource, wanted as T).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown; // created by this operator before it was killed
  });
}

async function startSeed(name: string, { read, target, controller, writer }: RestoreStepContext): Promise<void> {
  const { blueprint } = target.read;
  const { args, mounts, labels } = accessFor(read.intent);
  const seeding: Seeding = {
    name: name as MemberName,
    token: tokenOf(read),
    owner: read.owner,
    labels: { ...labelsOf(controller), ...labels },
    annotations: { [madeByAnnotation(controller.dialect)]: read.intent.uid },
    image: imageOf(controller),
    args: [
      ...args,
      ...versionArguments(blueprint.intent.version),
      ...(reliesOnManifest(read) ? ['--require-manifest'] : []),
    ],
    mounts,
    revisionBump: read.intent.revisionBump,
    serviceAccountName: read.intent.serviceAccountName,
  };
  const claim = seedClaim(blueprint, seeding);
  if (claim !== undefined) await createIfMissing(persistentVolumeClaims, claim, writer);
  if (claim === undefined || (await hasVolume(name, { read, controller })))
    await createIfMissing(pods, seedPod(blueprint, seeding), writer);
}

/** Fails if the PVC is terminating: a Pod on it would never start. */
async function hasVolume(name: string, context: Pick<RestoreStepContext, 'read' | 'controller'>): Promise<boolean> {
  const claim = await ownObject(persistentVolumeClaims, name, context);
  if (claim?.metadata.deletionTimestamp !== undefined)
    throw new Failure('conflict', `PersistentVolumeClaim ${name} of an earlier attempt is still terminating`);
  return claim !== undefined;
}

/** True if the manifest must belong to the backup, because the new cluster gets its spec from the manifest. */
const reliesOnManifest = (read: ReadRestore): boolean => usesSavedSpec(read) && read.intent.into === 'new';

/** The cluster token of the restored cluster. It is unique, so that no member of the old cluster can join. */
const tokenOf = ({ intent: { namespace, cluster, uid } }: ReadRestore): string => `${namespace}.${cluster}.${uid}`;

async function pin(isPinned: boolean, { object, controller, writer }: Omit<StepInput, 'target'>): Promise<void> {
  const { namespace, name, uid, resourceVersion, finalizers = [] } = object.metadata;
  const others = finalizers.filter((each) => each !== restoreFinalizer(controller));
  const body = {
    metadata: { uid, resourceVersion, finalizers: isPinned ? [...others, restoreFinalizer(controller)] : others },
  };
  await writer.patch(controller.resource, { namespace, name }, { type: 'merge', body });
}

async function hold(by: string | null, { target, controller, writer }: RestoreStepContext): Promise<void> {
  const { namespace, name, uid, resourceVersion } = storedIn(target).metadata;
  const body = { metadata: { uid, resourceVersion, annotations: { [controller.dialect.holdAnnotation]: by } } };
  await writer.patch(controller.clusters.resource, { namespace, name }, { type: 'merge', body });
}

/** Hands the PVC over before the Pod: a Pod of the cluster must not use a PVC of the restore. */
async function handOver({ name, uid }: Seed, context: RestoreStepContext): Promise<void> {
  const { read, target, controller, writer } = context;
  const { naming, owner, template, volumesOutlive } = target.read.blueprint;
  const removed = Object.fromEntries(Object.keys(labelsOf(controller)).map((label) => [label, null]));
  const own = { ...naming.clusterLabels, [naming.memberLabel]: name };
  const at = { namespace: read.intent.namespace, name };
  if (template.claim !== undefined) {
    const claim = await ownObject(persistentVolumeClaims, name, context);
    if (claim === undefined)
      throw new Failure('conflict', `PersistentVolumeClaim ${name} does not belong to the restore`);
    const metadata = {
      uid: claim.metadata.uid,
      labels: { ...removed, ...own },
      ownerReferences: volumesOutlive ? [] : [owner],
    };
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body: { metadata } });
  }
  const labels = { ...removed, ...template.labels, ...own, [servingLabel(naming)]: 'true' };
  const metadata = { uid, labels, ownerReferences: [owner] };
  await writer.patch(pods, at, { type: 'merge', body: { metadata } });
}

async function rewriteMemory(
  { seed, clusterId, memberId }: RestoreStep & { readonly kind: 'rewrite-memory' },
  { read, target, controller, writer }: RestoreStepContext,
): Promise<void> {
  const { version } = target.read.blueprint.intent;
  const object = storedIn(target);
  const memory = { seed, clusterId, memberId, token: tokenOf(read), version };
  const status = controller.dialect.rewriteMemory(object.status, memory);
  const { dialect, resource } = controller.clusters;
  await publish(object, status, { writer: () => writer, dialect, resource });
}

function storedIn({ object }: Target): Stored<ClusterObject> {
  if (object === undefined) throw new Failure('bug', 'restore step for a cluster that does not exist yet');
  return object;
}
