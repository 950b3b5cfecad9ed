import { type AgentImage, agentPod } from '../../core/desired/agent-pod.ts';
import { type Seeding, seedClaim, seedPod } from '../../core/desired/seed-pod.ts';
import type { CarrierName } from '../../core/model/cluster.ts';
import type { Body, Seed } from '../../core/model/restore.ts';
import type { RestoreStep } from '../../core/plan/restore/plan-restore.ts';
import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods, type Resource } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { agentLabel, slotAnnotation } from '../agents/agent-of-pod.ts';
import { storeAccess } from '../agents/store-access.ts';
import { publish } from '../cluster/publish.ts';
import type { ClusterObject } from '../cluster/sources.ts';
import type { Writer } from '../cluster/writer.ts';
import type { Target } from './observe.ts';
import { pinOf } from './pin.ts';
import type { RestoreTools } from './sources.ts';

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
  if (step.kind === 'pin' || step.kind === 'unpin') return pin(step.kind === 'pin', given);
  if (target === undefined) throw new Failure('bug', 'a step without a cluster to take it for');
  return performOn(step, { ...given, target });
}

type OnCluster = Exclude<RestoreStep, { readonly kind: 'pin' | 'unpin' }>;

async function performOn(step: OnCluster, deed: RestoreDeed): Promise<void> {
  switch (step.kind) {
    case 'prove':
      return prove(deed);
    case 'start-seed':
      return startSeed(step.name, deed);
    case 'discard-seed':
      return discardSeed(step.name, deed);
    case 'hold-cluster':
      return hold(deed.read.intent.uid, deed);
    case 'release-cluster':
      return hold(null, deed);
    case 'stop-pods':
      return removeAll(pods, step.pods, deed);
    case 'set-aside':
      return setAside(step.claims, deed);
    case 'hand-over':
      return handOver(step.seed, deed);
    case 'rewrite-memory':
      return rewriteMemory(step, deed);
    case 'discard-old-data':
      return removeAll(persistentVolumeClaims, step.claims, deed);
    default:
      return step satisfies never;
  }
}

function imageOf({ image }: RestoreTools): AgentImage {
  if (typeof image === 'string') throw new Failure('unreachable', image);
  return image;
}

const labelsOf = ({ dialect }: RestoreTools): Readonly<Record<string, string>> => ({
  app: 'etcd-restore',
  [agentLabel(dialect.group)]: 'restore',
});

async function prove({ read, target, tools, writer }: RestoreDeed): Promise<void> {
  const { intent, owner } = read;
  const { words, mounts } = storeAccess(intent.store, 'to-read');
  const { version } = target.read.blueprint.intent;
  const wanted = agentPod({
    name: `${intent.name.slice(0, 45).replace(/[^a-z0-9]+$/, '')}-prove-${intent.uid.slice(0, 8)}`,
    namespace: intent.namespace,
    labels: labelsOf(tools),
    annotations: { [slotAnnotation(tools.dialect.group)]: String(intent.createdAt) },
    owner,
    image: imageOf(tools),
    calls: [{ name: 'prove', words: ['prove', ...words, '--target-version', version] }],
    mounts,
    deadlineSeconds: 3_600,
    serviceAccountName: intent.serviceAccountName,
  });
  await createUnlessThere(pods, wanted, writer);
}

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
  const { words, mounts } = storeAccess(read.intent.store, 'to-read');
  const seeding: Seeding = {
    name: name as CarrierName,
    token: tokenOf({ read, target }),
    owner: read.owner,
    labels: labelsOf(tools),
    image: imageOf(tools),
    words,
    mounts,
    revisionBump: read.intent.revisionBump,
  };
  const claim = seedClaim(blueprint, seeding);
  if (claim !== undefined) await createUnlessThere(persistentVolumeClaims, claim, writer);
  await createUnlessThere(pods, seedPod(blueprint, seeding), writer);
}

/** What is restored is a cluster of its own: nobody of the old one may take it for theirs. */
const tokenOf = ({ read, target }: Pick<RestoreDeed, 'read' | 'target'>): string => {
  const { namespace, name, uid } = target.object.metadata;
  return `${namespace}.${name}.${uid}.${read.intent.uid}`;
};

async function discardSeed(name: string, { read, writer }: RestoreDeed): Promise<void> {
  const at = { namespace: read.intent.namespace, name };
  await unless('not-found', writer.remove(pods, at), undefined);
  await unless('not-found', writer.remove(persistentVolumeClaims, at), undefined);
}

async function pin(isPinned: boolean, { object, tools, writer }: Omit<Given, 'target'>): Promise<void> {
  const { namespace, name, resourceVersion, finalizers = [] } = object.metadata;
  const others = finalizers.filter((each) => each !== pinOf(tools));
  const body = { metadata: { resourceVersion, finalizers: isPinned ? [...others, pinOf(tools)] : others } };
  await writer.patch(tools.resource, { namespace, name }, { type: 'merge', body });
}

async function hold(by: string | null, { target, tools, writer }: RestoreDeed): Promise<void> {
  const { namespace, name, resourceVersion } = target.object.metadata;
  const body = { metadata: { resourceVersion, annotations: { [tools.dialect.holdAnnotation]: by } } };
  await writer.patch(tools.clusters.resource, { namespace, name }, { type: 'merge', body });
}

async function removeAll<T extends KubeObject>(
  resource: Resource<T>,
  those: readonly Body[],
  { read, writer }: RestoreDeed,
): Promise<void> {
  const { namespace } = read.intent;
  for (const { name, uid } of those)
    await unless('not-found', writer.remove(resource, { namespace, name }, { preconditions: { uid } }), undefined);
}

/** A volume that is the restore's goes with it, if nobody wants it back before; the cluster does not see it any more. */
async function setAside(claims: readonly Body[], { read, target, tools, writer }: RestoreDeed): Promise<void> {
  const { naming } = target.read.blueprint;
  const gone = Object.fromEntries(
    Object.keys({ ...naming.clusterLabels, [naming.memberLabel]: '' }).map((key) => [key, null]),
  );
  for (const { name, uid } of claims) {
    const metadata = { uid, labels: { ...gone, ...labelsOf(tools) }, ownerReferences: [read.owner] };
    const at = { namespace: read.intent.namespace, name };
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body: { metadata } });
  }
}

/** The volume first: when the pod is the cluster's, its volume must be too. */
async function handOver({ name, uid }: Seed, { read, target, tools, writer }: RestoreDeed): Promise<void> {
  const { naming, owner, template, disksOutlive } = target.read.blueprint;
  const labels = { [agentLabel(tools.dialect.group)]: null, ...naming.clusterLabels, [naming.memberLabel]: name };
  const at = { namespace: read.intent.namespace, name };
  if (template.claim !== undefined) {
    const metadata = { labels, ownerReferences: disksOutlive ? [] : [owner] };
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body: { metadata } });
  }
  const metadata = { uid, labels, ownerReferences: [owner] };
  await writer.patch(pods, at, { type: 'merge', body: { metadata } });
}

async function rewriteMemory(
  { seed, clusterId }: RestoreStep & { readonly kind: 'rewrite-memory' },
  { read, target, tools, writer }: RestoreDeed,
): Promise<void> {
  const { version } = target.read.blueprint.intent;
  const memory = { seed, clusterId, token: tokenOf({ read, target }), version };
  const status = tools.dialect.rewriteMemory(target.object.status, memory);
  const { dialect, resource } = tools.clusters;
  await publish(target.object, status, { writer: () => writer, dialect, resource });
}
