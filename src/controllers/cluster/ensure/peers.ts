import { isDeepStrictEqual } from 'node:util';
import type { EventContent, PeerObjects, ReadCluster } from '../../../apis/common/dialect.ts';
import { type ClusterWorld, isOurs, memberPodNamed } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import type { Naming } from '../../../core/cluster/model/template.ts';
import type { Join } from '../../../core/cluster/plan/step.ts';
import type { Manifest } from '../../../core/manifests/manifest.ts';
import type { MemberPodInput } from '../../../core/manifests/pod.ts';
import { volumeRecordAnnotations, volumeRecordIn } from '../../../core/manifests/pvc.ts';
import { votersOf } from '../../../core/quorum.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import { keyOf, parseKey, type Stored } from '../../../kube/object.ts';
import { isOwnedBy } from '../../../kube/owner.ts';
import { persistentVolumeClaims, type Resource } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import {
  type Caches,
  type ClusterObject,
  type ControllerContext,
  clusterIndex,
  ownerIndex,
  type PeerCache,
} from '../../shared/context.ts';
import type { Writer } from '../../shared/writer.ts';
import { inTurn } from '../failure-report.ts';

/** The dependencies of EtcdPeer upkeep; undefined in an API without EtcdPeers. */
export interface PeerContext {
  readonly cache: PeerCache;
  readonly objects: PeerObjects;
  readonly claims: Caches['claims'];
  readonly naming: Naming;
  readonly namespace: string;
  readonly owner: string;
  /** The voters in the memory of the cluster. */
  readonly voters: readonly MemberName[];
  /**
   * True once the cluster is adopted. Before that, deleting an EtcdPeer also deletes the ReplicaSet and pod of the
   * original.
   */
  readonly isOurs: boolean;
  readonly writer: Writer;
}

export function peerContext(
  { blueprint, peers, memory }: ReadCluster,
  context: ControllerContext,
): PeerContext | undefined {
  const { intent, naming } = blueprint;
  const { namespace, uid: owner, name } = intent;
  if (context.peers === undefined || peers === undefined) return undefined;
  const writer = context.writer(keyOf({ namespace, name }));
  const about = { naming, namespace, owner, voters: memory.voters, isOurs: isOurs(memory) };
  return { cache: context.peers, objects: peers, claims: context.caches.claims, ...about, writer };
}

/**
 * Ensures one EtcdPeer for each member: creates missing, corrects changed and deletes orphaned ones. A failure does not
 * stop the work on other EtcdPeers; the first failure is thrown at the end.
 */
export async function ensurePeers(world: ClusterWorld, context: PeerContext | undefined): Promise<void> {
  if (context === undefined) return;
  const tasks = [
    () => inTurn(peersOf(context), (peer) => releasePeer(peer, world, context)),
    () => inTurn(namesIn(world), (name) => ensurePeer(inputOf(name, world), context)),
    () => inTurn(orphansIn(world, context), (name) => deletePeer(name, context)),
  ];
  await inTurn(tasks, (task) => task());
}

const peersOf = ({ cache, namespace, owner }: PeerContext): readonly Stored<ClusterObject>[] =>
  cache.store.by(ownerIndex, namespace, owner);

function orphansIn(world: ClusterWorld, context: PeerContext): readonly MemberName[] {
  if (!world.membership.seen) return [];
  const names = namesIn(world);
  const owned = peersOf(context).map(({ metadata }) => metadata.name as MemberName);
  return owned.filter((name) => !names.includes(name) && memberPodNamed(world, name) === undefined);
}

/** Removes the finalizer of the original operator, after annotating the PVC that the finalizer protects. */
async function releasePeer(peer: Stored<ClusterObject>, world: ClusterWorld, context: PeerContext): Promise<void> {
  if (!isHeld(peer, context.cache)) return;
  // The annotation would mark the cluster as adopted before its pods are.
  if (world.membership.seen && world.memory.clusterId === undefined) return;
  await annotateVolume(peer.metadata.name, world, context);
  await dropFinalizer(peer, context);
}

/** Annotates the PVC with the cluster ID, so that the PVC counts as one of this cluster once its member is removed. */
async function annotateVolume(name: string, { membership }: ClusterWorld, context: PeerContext): Promise<void> {
  const { claims, naming, namespace, writer } = context;
  const claim = claims.get(keyOf({ namespace, name }));
  if (!membership.seen || claim === undefined || volumeRecordIn(claim.metadata.annotations ?? {}, naming) !== undefined)
    return;
  const { clusterId, members } = membership.value;
  const annotations = volumeRecordAnnotations(
    { clusterId, members: votersOf(members).map((voter) => voter.name) },
    naming,
  );
  const body = { metadata: { uid: claim.metadata.uid, annotations } };
  await writer.patch(persistentVolumeClaims, { namespace, name }, { type: 'merge', body });
}

const isHeld = ({ metadata }: Stored<ClusterObject>, { oldFinalizer }: PeerCache): boolean =>
  metadata.finalizers?.includes(oldFinalizer) === true;

async function dropFinalizer(
  { metadata }: Stored<ClusterObject>,
  { cache, writer }: Pick<PeerContext, 'cache' | 'writer'>,
): Promise<void> {
  const { namespace, name, uid, finalizers = [] } = metadata;
  const others = finalizers.filter((finalizer) => finalizer !== cache.oldFinalizer);
  const body = { metadata: { uid, finalizers: others } };
  await unless('not-found', writer.patch(cache.resource, { namespace, name }, { type: 'merge', body }), undefined);
}

/** Removes the original operator's finalizer from terminating EtcdPeers of a deleted cluster. */
export async function releasePeers(
  cluster: string,
  { peers: cache, writer }: Pick<ControllerContext, 'peers' | 'writer'>,
): Promise<void> {
  const { namespace, name } = parseKey(cluster);
  const leaving = (cache?.store.by(clusterIndex, namespace, name) ?? []).filter(
    ({ metadata }) => metadata.deletionTimestamp,
  );
  if (cache === undefined) return;
  for (const peer of leaving.filter((each) => isHeld(each, cache)))
    await dropFinalizer(peer, { cache, writer: writer(cluster) });
}

/** The names of members; if etcd does not answer, the names of pods, PVCs and remembered voters. */
function namesIn({ membership, memory, memberPods }: ClusterWorld): readonly MemberName[] {
  if (membership.seen) return membership.value.members.map(({ name }) => name);
  const present = memberPods.filter(({ phase }) => phase !== 'stopping').map(({ name }) => name);
  return [...new Set([...present, ...memory.voters])];
}

function inputOf(name: MemberName, world: ClusterWorld): MemberPodInput {
  const version = memberPodNamed(world, name)?.version || world.memory.version || world.intent.version;
  return { name, join: joinOf(name, world), version };
}

function joinOf(name: MemberName, { membership, memory: { bootstrap, clusterId } }: ClusterWorld): Join {
  if (clusterId === undefined && bootstrap?.members.includes(name)) return { as: 'bootstrap', of: bootstrap };
  if (!membership.seen) return { as: 'restarting' };
  const { members } = membership.value;
  return { as: 'joining', among: members.map((each) => ({ name: each.name, peerURL: each.peerURLs[0] ?? '' })) };
}

async function ensurePeer(input: MemberPodInput, context: PeerContext): Promise<void> {
  const { cache, objects, namespace, owner, writer } = context;
  const existing = cache.store.get(keyOf({ namespace, name: input.name }));
  if (existing === undefined) return createPeer(input, context);
  if (existing.metadata.deletionTimestamp !== undefined) return; // it is recreated once it is gone
  if (!isOwnedBy(existing, owner)) throw foreignPeer(existing, cache.resource);
  const value = specOver(objects.wanted(input, context.voters), existing);
  if (isDeepStrictEqual(existing.spec, value)) return;
  const { uid, name } = existing.metadata;
  const patch = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'replace', path: '/spec', value },
  ];
  await writer.patch(cache.resource, { namespace, name }, { type: 'json', body: patch }).catch((thrown: unknown) => {
    if (Failure.from(thrown).kind !== 'rejected' || !context.isOurs) throw thrown;
    return recreatePeer(existing, value, context);
  });
}

/** Deletes and recreates an EtcdPeer, because the API server rejects a smaller storage size in a patch. */
async function recreatePeer(existing: Stored<ClusterObject>, spec: unknown, context: PeerContext): Promise<void> {
  const { apiVersion, kind, metadata } = existing;
  const { namespace, name, uid, resourceVersion, labels, ownerReferences } = metadata;
  const preconditions = { uid, resourceVersion };
  await context.writer.remove(context.cache.resource, { namespace, name }, { preconditions });
  const replacement = { apiVersion, kind, metadata: { namespace, name, labels, ownerReferences }, spec };
  await createIfAbsent(replacement as ClusterObject, context);
}

/** The bootstrap field describes the first start, so it is not changed. */
function specOver({ spec }: Manifest, existing: Stored<ClusterObject>): unknown {
  const { bootstrap } = (existing.spec ?? {}) as { readonly bootstrap?: unknown };
  const { bootstrap: _, ...rest } = spec;
  return JSON.parse(JSON.stringify(bootstrap === undefined ? rest : { ...rest, bootstrap }));
}

const foreignPeer = ({ metadata }: Stored<ClusterObject>, { kind }: Resource<ClusterObject>): Failure =>
  new Failure('rejected', `${kind} ${metadata.name} exists and does not belong to this cluster: delete it`);

/** Creates an EtcdPeer. One may exist already, if the cache is late; a foreign one is reported in the next pass. */
export async function createPeer(input: MemberPodInput, context: PeerContext | undefined): Promise<void> {
  if (context === undefined) return;
  await createIfAbsent(context.objects.wanted(input, context.voters), context);
}

async function createIfAbsent(peer: ClusterObject, { cache, writer }: PeerContext): Promise<void> {
  await writer.create(cache.resource, peer).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown;
  });
}

export async function deletePeer(name: MemberName, context: PeerContext | undefined): Promise<void> {
  const existing = context?.cache.store.get(keyOf({ namespace: context.namespace, name }));
  if (context === undefined || existing === undefined || !isOwnedBy(existing, context.owner)) return;
  const { namespace, uid, resourceVersion } = existing.metadata;
  const preconditions = { uid, resourceVersion };
  const removal = context.writer.remove(context.cache.resource, { namespace, name }, { preconditions });
  await unless('not-found', removal, undefined);
}

/** The Event for an EtcdPeer that a user created. */
export const foreignPeerEvents = ({ metadata, kind }: ClusterObject): readonly EventContent[] =>
  metadata.ownerReferences?.length
    ? []
    : [
        {
          type: 'Warning',
          reason: 'BadSpec',
          message: `this ${kind} is ignored: the operator creates each ${kind} from an EtcdCluster; delete it, and create an EtcdCluster`,
        },
      ];

/** Writes the status of each EtcdPeer. The right to write it is optional: without it, nothing is written. */
export async function publishPeers(world: ClusterWorld, context: PeerContext | undefined): Promise<void> {
  if (context === undefined) return;
  const members = world.membership.seen ? world.membership.value.members : [];
  const { resource } = context.cache;
  await inTurn(peersOf(context), async ({ metadata, status: previous }) => {
    const { namespace, name, uid, generation } = metadata;
    const member = members.find((each) => each.name === name);
    if (member === undefined && previous === undefined) return;
    const status = context.objects.writeStatus(member, { previous, generation });
    if (isDeepStrictEqual(previous, status)) return;
    const body = { metadata: { uid }, status };
    const write = context.writer.patch(resource, { namespace, name }, { type: 'merge', body, subresource: 'status' });
    await unless('forbidden', unless('not-found', write, undefined), undefined);
  });
}
