import { isDeepStrictEqual } from 'node:util';
import type { EventContent, PeerObjects, ReadCluster } from '../../../apis/common/dialect.ts';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { peerNamesIn } from '../../../core/cluster/plan/upkeep/peers.ts';
import type { LivePeers } from '../../../core/cluster/plan/upkeep/world.ts';
import { keyOf, type Stored } from '../../../kube/object.ts';
import {
  type Caches,
  type ClusterObject,
  type ControllerContext,
  ownerIndex,
  type PeerCache,
} from '../../shared/context.ts';
import { publishOptional } from '../../shared/status-writer.ts';
import type { Writer } from '../../shared/writer.ts';
import { inTurn } from '../failure-report.ts';

/** The dependencies of work on EtcdPeers; undefined in an API without EtcdPeers. */
export interface PeerContext {
  readonly cache: PeerCache;
  readonly objects: PeerObjects;
  readonly claims: Caches['claims'];
  readonly namespace: string;
  readonly owner: string;
  /** The voters in the memory of the cluster. */
  readonly voters: readonly MemberName[];
  readonly writer: Writer;
}

export function peerContext(
  { blueprint, peers, memory }: ReadCluster,
  context: ControllerContext,
): PeerContext | undefined {
  const { namespace, uid: owner, name } = blueprint.intent;
  if (context.peers === undefined || peers === undefined) return undefined;
  const writer = context.writer(keyOf({ namespace, name }));
  const about = { namespace, owner, voters: memory.voters };
  return { cache: context.peers, objects: peers, claims: context.caches.claims, ...about, writer };
}

const peersOf = ({ cache, namespace, owner }: PeerContext): readonly Stored<ClusterObject>[] =>
  cache.store.by(ownerIndex, namespace, owner);

/** The EtcdPeers of a cluster, for its upkeep. */
export function livePeers(world: ClusterWorld, context: PeerContext | undefined): LivePeers | undefined {
  if (context === undefined) return undefined;
  const { cache, claims, objects, namespace, voters } = context;
  const owned = peersOf(context);
  const named = peerNamesIn(world).flatMap((name) => cache.store.get(keyOf({ namespace, name })) ?? []);
  return {
    kind: cache.resource.kind,
    objects: [...new Set([...owned, ...named])],
    claims: owned.flatMap(({ metadata: { name } }) => claims.get(keyOf({ namespace, name })) ?? []),
    oldFinalizer: cache.oldFinalizer,
    wanted: (input) => objects.wanted(input, voters),
  };
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
    const { name, generation } = metadata;
    const member = members.find((each) => each.name === name);
    if (member === undefined && previous === undefined) return;
    const status = context.objects.writeStatus(member, { previous, generation });
    if (isDeepStrictEqual(previous, status)) return;
    await publishOptional({ resource, metadata }, status, context.writer);
  });
}
