import { isDeepEqual } from '../../../../std/deep-equal.ts';
import { Failure } from '../../../../std/failure.ts';
import { isOwnedBy } from '../../../../std/owner.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import type { MemberPodInput } from '../../../manifests/pod.ts';
import { volumeRecordAnnotations, volumeRecordIn } from '../../../manifests/pvc.ts';
import { votersOf } from '../../../quorum.ts';
import { type ClusterWorld, isOurs, memberPodNamed } from '../../model/cluster.ts';
import type { LiveObject } from '../../model/live-objects.ts';
import type { MemberName } from '../../model/names.ts';
import type { Join } from '../step.ts';
import { problem, type UpkeepStep } from './step.ts';
import type { LivePeers, UpkeepRule, UpkeepWorld } from './world.ts';

/** Keeps one EtcdPeer for each member: creates missing, corrects changed and deletes orphaned ones. */
export const keepPeers: UpkeepRule = (world) => {
  const { peers } = world.live;
  if (peers === undefined) return [];
  const owned = peers.objects.filter((peer) => isOwnedBy(peer, world.intent.uid));
  return [
    ...owned.flatMap((peer) => release(peer, peers, world)),
    ...peerNamesIn(world).flatMap((name) => keepPeer(inputOf(name, world), peers, world)),
    ...orphansIn(owned, world).map((peer) => deletion(peer, peers)),
  ];
};

/** The names of members; if etcd does not answer, the names of pods, PVCs and remembered voters. */
export function peerNamesIn({ membership, memory, memberPods }: ClusterWorld): readonly MemberName[] {
  if (membership.seen) return membership.value.members.map(({ name }) => name);
  const present = memberPods.filter(({ phase }) => phase !== 'stopping').map(({ name }) => name);
  return [...new Set([...present, ...memory.voters])];
}

/** Removes the finalizer of the original operator from terminating EtcdPeers of a deleted cluster. */
export const releaseAfterDeletion = (peers: readonly LiveObject[], original: Original): readonly UpkeepStep[] =>
  peers
    .filter((peer) => peer.metadata.deletionTimestamp !== undefined && isHeld(peer, original))
    .map((peer) => releaseOf(peer, original));

type Original = Pick<LivePeers, 'kind' | 'oldFinalizer'>;

const isHeld = ({ metadata }: LiveObject, { oldFinalizer }: Original): boolean =>
  metadata.finalizers?.includes(oldFinalizer) === true;

/** Removes the finalizer of the original operator, after annotating the PVC that the finalizer protects. */
function release(peer: LiveObject, peers: LivePeers, world: UpkeepWorld): readonly UpkeepStep[] {
  if (!isHeld(peer, peers)) return [];
  // The annotation would mark the cluster as adopted before its pods are.
  if (world.membership.seen && world.memory.clusterId === undefined) return [];
  const claim = peers.claims.find(({ metadata }) => metadata.name === peer.metadata.name);
  const record = claim === undefined ? {} : recordOn(claim, world);
  return [{ ...releaseOf(peer, peers), ...record }];
}

function releaseOf({ metadata }: LiveObject, { kind, oldFinalizer }: Original) {
  const { name, uid, finalizers = [] } = metadata;
  const others = finalizers.filter((finalizer) => finalizer !== oldFinalizer);
  const why = `${kind} ${name} has the finalizer of the original operator`;
  return { kind: 'release-peer', name, uid, finalizers: others, why } as const;
}

/** Annotates the PVC with the cluster ID, so that the PVC counts as one of this cluster once its member is removed. */
function recordOn({ metadata }: LiveObject, { membership, blueprint: { naming } }: UpkeepWorld) {
  if (!membership.seen || volumeRecordIn(metadata.annotations ?? {}, naming) !== undefined) return {};
  const { clusterId, members } = membership.value;
  const voters = votersOf(members).map((voter) => voter.name);
  const annotations = volumeRecordAnnotations({ clusterId, members: voters }, naming);
  return { record: { claim: metadata.name, uid: metadata.uid, annotations } };
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

function keepPeer(input: MemberPodInput, peers: LivePeers, { intent, memory }: UpkeepWorld): readonly UpkeepStep[] {
  const { kind, objects, wanted } = peers;
  const { name } = input;
  const peer = objects.find(({ metadata }) => metadata.name === name);
  if (peer === undefined) return [{ kind: 'create-peer', peer: wanted(input), why: `${kind} ${name} does not exist` }];
  if (peer.metadata.deletionTimestamp !== undefined) return []; // it is recreated once it is gone
  if (!isOwnedBy(peer, intent.uid)) return [problem('peers', foreignPeer(name, kind))];
  const spec = specOver(wanted(input), peer);
  if (isDeepEqual(peer.spec, spec)) return [];
  // Before the adoption, deleting an EtcdPeer also deletes the ReplicaSet and pod of the original.
  const mayRecreate = isOurs(memory);
  return [{ kind: 'correct-peer', peer, spec, mayRecreate, why: `${kind} ${name} differs from the spec` }];
}

/** The bootstrap field describes the first start, so it is not changed. */
function specOver({ spec }: Manifest, existing: LiveObject): unknown {
  const { bootstrap } = (existing.spec ?? {}) as { readonly bootstrap?: unknown };
  const { bootstrap: _, ...rest } = spec;
  return JSON.parse(JSON.stringify(bootstrap === undefined ? rest : { ...rest, bootstrap }));
}

const foreignPeer = (name: string, kind: string): Failure =>
  new Failure('rejected', `${kind} ${name} exists and does not belong to this cluster: delete it`);

function orphansIn(owned: readonly LiveObject[], world: UpkeepWorld): readonly LiveObject[] {
  if (!world.membership.seen) return [];
  const names: readonly string[] = peerNamesIn(world);
  const hasPod = (name: string): boolean => memberPodNamed(world, name as MemberName) !== undefined;
  return owned.filter(({ metadata: { name } }) => !names.includes(name) && !hasPod(name));
}

function deletion({ metadata: { name, uid, resourceVersion } }: LiveObject, { kind }: LivePeers): UpkeepStep {
  return { kind: 'delete-peer', name, uid, resourceVersion, why: `${kind} ${name} has no member` };
}
