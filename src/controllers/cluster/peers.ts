import { isDeepStrictEqual } from 'node:util';
import { markedWith, markIn } from '../../core/desired/claim.ts';
import type { Manifest } from '../../core/desired/manifest.ts';
import type { Body } from '../../core/desired/pod.ts';
import { type ClusterWorld, carrierNamed, isOurs } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import type { Naming } from '../../core/model/template.ts';
import type { Join } from '../../core/plan/cluster/step.ts';
import { votersOf } from '../../core/quorum.ts';
import type { PeerObjects, ReadCluster, Told } from '../../dialects/dialect.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { atOf, keyOf, type Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, type Resource } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { type Caches, type ClusterObject, clusterIndex, ownerIndex, type PeerShelf, type Tools } from './sources.ts';
import { inTurn } from './trouble.ts';
import type { Writer } from './writer.ts';

/** What keeping the objects that stand for members needs; nothing in an API that has none. */
export interface PeerKeeping {
  readonly shelf: PeerShelf;
  readonly objects: PeerObjects;
  readonly claims: Caches['claims'];
  readonly naming: Naming;
  readonly namespace: string;
  readonly owner: string;
  /** As they are remembered. */
  readonly voters: readonly CarrierName[];
  /** Before that, what an original has made for its peers to keep their pods would go with them. */
  readonly isOurs: boolean;
  readonly writer: Writer;
}

export function peerKeeping({ blueprint, peers, memory }: ReadCluster, tools: Tools): PeerKeeping | undefined {
  const { intent, naming } = blueprint;
  const { namespace, uid: owner, name } = intent;
  if (tools.peers === undefined || peers === undefined) return undefined;
  const writer = tools.writer(keyOf({ namespace, name }));
  const about = { naming, namespace, owner, voters: memory.voters, isOurs: isOurs(memory) };
  return { shelf: tools.peers, objects: peers, claims: tools.caches.claims, ...about, writer };
}

/**
 * Every member has one: what is missing is made, what was changed is put right, and what stands for nobody goes. One that
 * cannot be kept stands in the way of no other; it is thrown of when all have been seen to.
 */
export async function keepPeers(world: ClusterWorld, keeping: PeerKeeping | undefined): Promise<void> {
  if (keeping === undefined) return;
  const works = [
    () => inTurn(peersOf(keeping), (peer) => letGo(peer, world, keeping)),
    () => inTurn(namesIn(world), (name) => keepPeer(bodyOf(name, world), keeping)),
    () => inTurn(straysIn(world, keeping), (name) => dropPeer(name, keeping)),
  ];
  await inTurn(works, (work) => work());
}

const peersOf = ({ shelf, namespace, owner }: PeerKeeping): readonly Stored<ClusterObject>[] =>
  shelf.store.by(ownerIndex, namespace, owner);

function straysIn(world: ClusterWorld, keeping: PeerKeeping): readonly CarrierName[] {
  if (!world.membership.seen) return [];
  const names = namesIn(world);
  const owned = peersOf(keeping).map(({ metadata }) => metadata.name as CarrierName);
  return owned.filter((name) => !names.includes(name) && carrierNamed(world, name) === undefined);
}

/** What the original wanted to do first is done without its finalizer here. */
async function letGo(peer: Stored<ClusterObject>, world: ClusterWorld, keeping: PeerKeeping): Promise<void> {
  if (!isHeld(peer, keeping.shelf)) return;
  // A mark would have the cluster taken for ours before its bodies are.
  if (world.membership.seen && world.memory.clusterId === undefined) return;
  await markVolume(peer.metadata.name, world, keeping);
  await dropFinalizer(peer, keeping);
}

/** It was of this cluster, and goes when etcd's list is without its member: without a mark nobody would know. */
async function markVolume(name: string, { membership }: ClusterWorld, keeping: PeerKeeping): Promise<void> {
  const { claims, naming, namespace, writer } = keeping;
  const claim = claims.get(keyOf({ namespace, name }));
  if (!membership.seen || claim === undefined || markIn(claim.metadata.annotations ?? {}, naming) !== undefined) return;
  const { clusterId, members } = membership.value;
  const annotations = markedWith({ clusterId, members: votersOf(members).map((voter) => voter.name) }, naming);
  const body = { metadata: { uid: claim.metadata.uid, annotations } };
  await writer.patch(persistentVolumeClaims, { namespace, name }, { type: 'merge', body });
}

const isHeld = ({ metadata }: Stored<ClusterObject>, { oldFinalizer }: PeerShelf): boolean =>
  metadata.finalizers?.includes(oldFinalizer) === true;

async function dropFinalizer(
  { metadata }: Stored<ClusterObject>,
  { shelf, writer }: Pick<PeerKeeping, 'shelf' | 'writer'>,
): Promise<void> {
  const { namespace, name, uid, finalizers = [] } = metadata;
  const others = finalizers.filter((finalizer) => finalizer !== shelf.oldFinalizer);
  const body = { metadata: { uid, finalizers: others } };
  await unless('not-found', writer.patch(shelf.resource, { namespace, name }, { type: 'merge', body }), undefined);
}

/** Where a cluster is gone, or going, nobody else takes the original's finalizer from peers that are to go with it. */
export async function freePeers(
  cluster: string,
  { peers: shelf, writer }: Pick<Tools, 'peers' | 'writer'>,
): Promise<void> {
  const { namespace, name } = atOf(cluster);
  const leaving = (shelf?.store.by(clusterIndex, namespace, name) ?? []).filter(
    ({ metadata }) => metadata.deletionTimestamp,
  );
  if (shelf === undefined) return;
  for (const peer of leaving.filter((each) => isHeld(each, shelf)))
    await dropFinalizer(peer, { shelf, writer: writer(cluster) });
}

/** Without a word from etcd, whoever has a body or was a member. */
function namesIn({ membership, memory, carriers }: ClusterWorld): readonly CarrierName[] {
  if (membership.seen) return membership.value.members.map(({ name }) => name);
  const bodies = carriers.filter(({ phase }) => phase !== 'stopping').map(({ name }) => name);
  return [...new Set([...bodies, ...memory.voters])];
}

function bodyOf(name: CarrierName, world: ClusterWorld): Body {
  const version = carrierNamed(world, name)?.version || world.memory.version || world.intent.version;
  return { name, join: joinOf(name, world), version };
}

function joinOf(name: CarrierName, { membership, memory: { bootstrap, clusterId } }: ClusterWorld): Join {
  if (clusterId === undefined && bootstrap?.members.includes(name)) return { as: 'founder', of: bootstrap };
  if (!membership.seen) return { as: 'returner' };
  const { members } = membership.value;
  return { as: 'newcomer', among: members.map((each) => ({ name: each.name, peerURL: each.peerURLs[0] ?? '' })) };
}

async function keepPeer(body: Body, keeping: PeerKeeping): Promise<void> {
  const { shelf, objects, namespace, owner, writer } = keeping;
  const there = shelf.store.get(keyOf({ namespace, name: body.name }));
  if (there === undefined) return makePeer(body, keeping);
  if (there.metadata.deletionTimestamp !== undefined) return; // it is made anew when it is gone
  if (!isOwnedBy(there, owner)) throw foreign(there, shelf.resource);
  const value = specOver(objects.wanted(body, keeping.voters), there);
  if (isDeepStrictEqual(there.spec, value)) return;
  const { uid, name } = there.metadata;
  const patch = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'replace', path: '/spec', value },
  ];
  await writer.patch(shelf.resource, { namespace, name }, { type: 'json', body: patch }).catch((thrown: unknown) => {
    if (Failure.from(thrown).kind !== 'rejected' || !keeping.isOurs) throw thrown;
    return makeAgain(there, value, keeping);
  });
}

/** The API server takes back no storage that somebody has let grow: then one that is as it should be takes its place. */
async function makeAgain(there: Stored<ClusterObject>, spec: unknown, keeping: PeerKeeping): Promise<void> {
  const { apiVersion, kind, metadata } = there;
  const { namespace, name, uid, resourceVersion, labels, ownerReferences } = metadata;
  const preconditions = { uid, resourceVersion };
  await keeping.writer.remove(keeping.shelf.resource, { namespace, name }, { preconditions });
  const anew = { apiVersion, kind, metadata: { namespace, name, labels, ownerReferences }, spec };
  await createPeer(anew as ClusterObject, keeping);
}

/** How it first started is history: it stays as it was written then. */
function specOver({ spec }: Manifest, there: Stored<ClusterObject>): unknown {
  const { bootstrap } = (there.spec ?? {}) as { readonly bootstrap?: unknown };
  const { bootstrap: _, ...rest } = spec;
  return JSON.parse(JSON.stringify(bootstrap === undefined ? rest : { ...rest, bootstrap }));
}

const isOwnedBy = ({ metadata }: Stored<ClusterObject>, uid: string): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);

const foreign = ({ metadata }: Stored<ClusterObject>, { kind }: Resource<ClusterObject>): Failure =>
  new Failure('rejected', `${kind} ${metadata.name} exists and does not belong to this cluster: delete it`);

/** One may be there already, if the copy is late or we were killed after making it; a stranger's is found in the next pass. */
export async function makePeer(body: Body, keeping: PeerKeeping | undefined): Promise<void> {
  if (keeping === undefined) return;
  await createPeer(keeping.objects.wanted(body, keeping.voters), keeping);
}

async function createPeer(peer: ClusterObject, { shelf, writer }: PeerKeeping): Promise<void> {
  await writer.create(shelf.resource, peer).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown;
  });
}

export async function dropPeer(name: CarrierName, keeping: PeerKeeping | undefined): Promise<void> {
  const there = keeping?.shelf.store.get(keyOf({ namespace: keeping.namespace, name }));
  if (keeping === undefined || there === undefined || !isOwnedBy(there, keeping.owner)) return;
  const { namespace, uid, resourceVersion } = there.metadata;
  const preconditions = { uid, resourceVersion };
  const removal = keeping.writer.remove(keeping.shelf.resource, { namespace, name }, { preconditions });
  await unless('not-found', removal, undefined);
}

/** What to tell of one that somebody made by hand: it stands for nobody. */
export const toldOfForeign = ({ metadata, kind }: ClusterObject): readonly Told[] =>
  metadata.ownerReferences?.length
    ? []
    : [
        {
          type: 'Warning',
          reason: 'BadSpec',
          message: `nothing is done for this ${kind}: the operator makes them itself, from an EtcdCluster; delete it and declare one`,
        },
      ];

/** Says on each what is known of its member, once anything is. The right to do so is optional: without it, nothing is said. */
export async function publishPeers(world: ClusterWorld, keeping: PeerKeeping | undefined): Promise<void> {
  if (keeping === undefined) return;
  const members = world.membership.seen ? world.membership.value.members : [];
  const { resource } = keeping.shelf;
  await inTurn(peersOf(keeping), async ({ metadata, status: previous }) => {
    const { namespace, name, uid, generation } = metadata;
    const member = members.find((each) => each.name === name);
    if (member === undefined && previous === undefined) return;
    const status = keeping.objects.writeStatus(member, { previous, generation });
    if (isDeepStrictEqual(previous, status)) return;
    const body = { metadata: { uid }, status };
    const write = keeping.writer.patch(resource, { namespace, name }, { type: 'merge', body, subresource: 'status' });
    await unless('forbidden', unless('not-found', write, undefined), undefined);
  });
}
