import { type AgentImage, agentPod } from '../../core/desired/agent-pod.ts';
import { type Seeding, seedClaim, seedPod } from '../../core/desired/seed-pod.ts';
import type { CarrierName } from '../../core/model/names.ts';
import type { Seed } from '../../core/model/restore.ts';
import type { RestoreStep } from '../../core/plan/restore/step.ts';
import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods, type Resource } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { slotAnnotation } from '../agents/agent-of-pod.ts';
import { publish } from '../cluster/publish.ts';
import type { ClusterObject } from '../cluster/sources.ts';
import type { Writer } from '../cluster/writer.ts';
import { labelsOf, madeByAnnotation } from './bodies.ts';
import { accessFor } from './courier-bodies.ts';
import { createCluster } from './create-cluster.ts';
import { type Discard, discard, isDiscard, ownBody, removeAll } from './discard.ts';
import { keepOld, setAside } from './old-volumes.ts';
import { pinOf } from './pin.ts';
import type { RestoreTools } from './sources.ts';
import type { Target } from './target.ts';

/** What performing a step needs. */
export interface RestoreDeed extends Omit<Given, 'target'> {
  readonly target: Target;
}

interface Given {
  readonly object: Stored<ClusterObject>;
  readonly read: ReadRestore;
  /** Not there when the cluster is gone. */
  readonly target: Target | undefined;
  readonly tools: RestoreTools;
  readonly writer: Writer;
}

/** Does one thing. Each of them may be done twice without harm. */
export async function performRestore(step: RestoreStep, { target, ...given }: Given): Promise<void> {
  if (step.kind === 'prove') return prove({ ...given, target });
  if (step.kind === 'pin' || step.kind === 'unpin') return pin(step.kind === 'pin', given);
  if (isDiscard(step)) return discard(step, given);
  if (target === undefined) throw new Failure('bug', 'a step without a cluster to take it for');
  return performOn(step, { ...given, target });
}

type OnCluster = Exclude<RestoreStep, Discard | { readonly kind: 'prove' | 'pin' | 'unpin' }>;

async function performOn(step: OnCluster, deed: RestoreDeed): Promise<void> {
  switch (step.kind) {
    case 'start-seed':
      return startSeed(step.name, deed);
    case 'create-cluster':
      return createCluster(deed);
    case 'hold-cluster':
      return hold(deed.read.intent.uid, deed);
    case 'release-cluster':
      return hold(null, deed);
    case 'stop-pods':
      return removeAll(pods, step.pods, deed);
    case 'set-aside':
      return setAside(step.claims, deed);
    case 'keep-old-data':
      return keepOld(step.claims, deed);
    case 'hand-over':
      return handOver(step.seed, deed);
    case 'rewrite-memory':
      return rewriteMemory(step, deed);
    default:
      return step satisfies never;
  }
}

function imageOf({ image }: RestoreTools): AgentImage {
  if (typeof image === 'string') throw new Failure('unreachable', image);
  return image;
}

/** Says what can be said of the backup before anything is made for it; the seed reads it to its end. */
async function prove({ read, target, tools, writer }: Given): Promise<void> {
  const { intent, owner } = read;
  const { words, mounts, labels } = accessFor(intent);
  const version = target?.read.blueprint.intent.version;
  const wanted = agentPod({
    name: `${intent.name.slice(0, 45).replace(/[^a-z0-9]+$/, '')}-look-${intent.uid.slice(0, 8)}`,
    namespace: intent.namespace,
    labels: { ...labelsOf(tools), ...labels },
    annotations: { [slotAnnotation(tools.dialect.group)]: String(intent.createdAt) },
    owner,
    image: imageOf(tools),
    calls: [
      { name: 'look', words: ['look', ...words, ...wordsFor(version), ...(isSaved(read) ? ['--tell-cluster'] : [])] },
    ],
    mounts,
    deadlineSeconds: 600,
    serviceAccountName: intent.serviceAccountName,
  });
  await createUnlessThere(pods, wanted, writer);
}

/** Which etcd is to read it, where that is known yet. */
const wordsFor = (version: string | undefined): readonly string[] =>
  version === undefined ? [] : ['--target-version', version];

/** Whether the cluster that is made is the one that was saved. */
const isSaved = ({ template }: ReadRestore): boolean => template === 'in-backup';

async function createUnlessThere<T extends KubeObject>(
  resource: Resource<T>,
  wanted: object,
  writer: Writer,
): Promise<void> {
  await writer.create(resource, wanted as T).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown; // by us, before we were killed
  });
}

async function startSeed(name: string, { read, target, tools, writer }: RestoreDeed): Promise<void> {
  const { blueprint } = target.read;
  const { words, mounts, labels } = accessFor(read.intent);
  const seeding: Seeding = {
    name: name as CarrierName,
    token: tokenOf(read),
    owner: read.owner,
    labels: { ...labelsOf(tools), ...labels },
    annotations: { [madeByAnnotation(tools.dialect)]: read.intent.uid },
    image: imageOf(tools),
    words: [...words, ...wordsFor(blueprint.intent.version), ...(reliesOnManifest(read) ? ['--as-described'] : [])],
    mounts,
    revisionBump: read.intent.revisionBump,
    serviceAccountName: read.intent.serviceAccountName,
  };
  const claim = seedClaim(blueprint, seeding);
  if (claim !== undefined) await createUnlessThere(persistentVolumeClaims, claim, writer);
  if (claim === undefined || (await hasVolume(name, { read, tools })))
    await createUnlessThere(pods, seedPod(blueprint, seeding), writer);
}

/** A pod on a volume that is about to go would wait for it for ever. */
async function hasVolume(name: string, given: Pick<RestoreDeed, 'read' | 'tools'>): Promise<boolean> {
  const claim = await ownBody(persistentVolumeClaims, name, given);
  if (claim?.metadata.deletionTimestamp !== undefined)
    throw new Failure('conflict', `PersistentVolumeClaim ${name} of an earlier try is still going`);
  return claim !== undefined;
}

/** Where what is made is what stood beside the backup, that must have been true. */
const reliesOnManifest = (read: ReadRestore): boolean => isSaved(read) && read.intent.into === 'new';

/** What is restored is a cluster of its own: nobody of the old one may take it for theirs. */
const tokenOf = ({ intent: { namespace, cluster, uid } }: ReadRestore): string => `${namespace}.${cluster}.${uid}`;

async function pin(isPinned: boolean, { object, tools, writer }: Omit<Given, 'target'>): Promise<void> {
  const { namespace, name, uid, resourceVersion, finalizers = [] } = object.metadata;
  const others = finalizers.filter((each) => each !== pinOf(tools));
  const body = { metadata: { uid, resourceVersion, finalizers: isPinned ? [...others, pinOf(tools)] : others } };
  await writer.patch(tools.resource, { namespace, name }, { type: 'merge', body });
}

async function hold(by: string | null, { target, tools, writer }: RestoreDeed): Promise<void> {
  const { namespace, name, uid, resourceVersion } = storedIn(target).metadata;
  const body = { metadata: { uid, resourceVersion, annotations: { [tools.dialect.holdAnnotation]: by } } };
  await writer.patch(tools.clusters.resource, { namespace, name }, { type: 'merge', body });
}

/** The volume first: when the pod is the cluster's, its volume must be too. */
async function handOver({ name, uid }: Seed, deed: RestoreDeed): Promise<void> {
  const { read, target, tools, writer } = deed;
  const { naming, owner, template, disksOutlive } = target.read.blueprint;
  const gone = Object.fromEntries(Object.keys(labelsOf(tools)).map((label) => [label, null]));
  const own = { ...naming.clusterLabels, [naming.memberLabel]: name };
  const at = { namespace: read.intent.namespace, name };
  if (template.claim !== undefined) {
    const claim = await ownBody(persistentVolumeClaims, name, deed);
    if (claim === undefined)
      throw new Failure('conflict', `PersistentVolumeClaim ${name} is not the one of the restore`);
    const metadata = {
      ...{ uid: claim.metadata.uid, labels: { ...gone, ...own } },
      ownerReferences: disksOutlive ? [] : [owner],
    };
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body: { metadata } });
  }
  const metadata = { uid, labels: { ...gone, ...template.labels, ...own }, ownerReferences: [owner] };
  await writer.patch(pods, at, { type: 'merge', body: { metadata } });
}

async function rewriteMemory(
  { seed, clusterId, memberId }: RestoreStep & { readonly kind: 'rewrite-memory' },
  { read, target, tools, writer }: RestoreDeed,
): Promise<void> {
  const { version } = target.read.blueprint.intent;
  const object = storedIn(target);
  const memory = { seed, clusterId, memberId, token: tokenOf(read), version };
  const status = tools.dialect.rewriteMemory(object.status, memory);
  const { dialect, resource } = tools.clusters;
  await publish(object, status, { writer: () => writer, dialect, resource });
}

function storedIn({ object }: Target): Stored<ClusterObject> {
  if (object === undefined) throw new Failure('bug', 'a step for a cluster that is not there yet');
  return object;
}
