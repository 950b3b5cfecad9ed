import { isDeepStrictEqual } from 'node:util';
import type { Manifest } from '../../core/desired/manifest.ts';
import type { Body } from '../../core/desired/pod.ts';
import { type CarrierName, type ClusterWorld, carrierNamed } from '../../core/model/cluster.ts';
import type { Join } from '../../core/plan/cluster/step.ts';
import type { PeerObjects, ReadCluster, Told } from '../../dialects/dialect.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { keyOf, type Stored } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Store } from '../../runtime/store.ts';
import { Failure, unless } from '../../std/failure.ts';
import { type ClusterObject, ownerIndex, type PeerShelf, type Tools } from './sources.ts';
import type { Writer } from './writer.ts';

/** What keeping the objects that stand for members needs; nothing in an API that has none. */
export interface PeerKeeping {
  readonly shelf: PeerShelf;
  readonly objects: PeerObjects;
  readonly namespace: string;
  readonly owner: string;
  readonly writer: Writer;
}

export function peerKeeping(read: ReadCluster, tools: Tools): PeerKeeping | undefined {
  const { namespace, uid: owner, name } = read.blueprint.intent;
  if (tools.peers === undefined || read.peers === undefined) return undefined;
  const writer = tools.writer(keyOf({ namespace, name }));
  return { shelf: tools.peers, objects: read.peers, namespace, owner, writer };
}

/** Every member has one: what is missing is made, what was changed is put right, and what stands for nobody goes. */
export async function keepPeers(world: ClusterWorld, keeping: PeerKeeping | undefined): Promise<void> {
  if (keeping === undefined) return;
  const names = namesIn(world);
  for (const name of names) await keepPeer(bodyOf(name, world), keeping);
  if (!world.membership.seen) return;
  const { store } = keeping.shelf;
  const strays = store
    .by(ownerIndex, keeping.owner)
    .map(({ metadata }) => metadata.name as CarrierName)
    .filter((name) => !names.includes(name) && carrierNamed(world, name) === undefined);
  for (const name of strays) await dropPeer(name, keeping);
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
  const value = specOver(objects.wanted(body), there);
  if (isDeepStrictEqual(there.spec, value)) return;
  const { uid, name } = there.metadata;
  const patch = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'replace', path: '/spec', value },
  ];
  await writer.patch(shelf.resource, { namespace, name }, { type: 'json', body: patch });
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
  const { shelf, objects, writer } = keeping;
  await writer.create(shelf.resource, objects.wanted(body) as unknown as ClusterObject).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown;
  });
}

export async function dropPeer(name: CarrierName, keeping: PeerKeeping | undefined): Promise<void> {
  const there = keeping?.shelf.store.get(keyOf({ namespace: keeping.namespace, name }));
  if (keeping === undefined || there === undefined || !isOwnedBy(there, keeping.owner)) return;
  const { namespace, uid } = there.metadata;
  const removal = keeping.writer.remove(keeping.shelf.resource, { namespace, name }, { preconditions: { uid } });
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

/** Says on each what is known of its member, once anything is. */
export async function publishPeers(world: ClusterWorld, keeping: PeerKeeping | undefined): Promise<void> {
  if (keeping === undefined) return;
  const members = world.membership.seen ? world.membership.value.members : [];
  const { store, resource }: { store: Store<ClusterObject>; resource: Resource<ClusterObject> } = keeping.shelf;
  for (const { metadata, status: previous } of store.by(ownerIndex, keeping.owner)) {
    const { namespace, name, uid, generation } = metadata;
    const member = members.find((each) => each.name === name);
    if (member === undefined && previous === undefined) continue;
    const status = keeping.objects.writeStatus(member, { previous, generation });
    if (isDeepStrictEqual(previous, status)) continue;
    const body = { metadata: { uid }, status };
    const write = keeping.writer.patch(resource, { namespace, name }, { type: 'merge', body, subresource: 'status' });
    await unless('not-found', write, undefined);
  }
}
