import type { Blueprint, Manifest } from '../../../manifests/manifest.ts';
import type { MemberPodInput } from '../../../manifests/pod.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import type { LiveClaim, LiveObject, MemberObject, UnreadObject } from '../../model/live-objects.ts';
import type { Verdict } from '../step.ts';
import type { UpkeepStep } from './step.ts';

/** The EtcdPeers of a cluster. */
export interface LivePeers {
  readonly kind: string;
  /** EtcdPeers that the cluster owns, and EtcdPeers with the name of a member. */
  readonly objects: readonly LiveObject[];
  /** PVCs with the name of an EtcdPeer. */
  readonly claims: readonly LiveObject[];
  readonly oldFinalizer: string;
  /** The desired EtcdPeer of a member. */
  readonly wanted: (member: MemberPodInput) => Manifest;
}

/** The objects around the members of a cluster. */
export interface LiveObjects {
  /** Services with the names of the cluster's Services. */
  readonly services: readonly LiveObject[];
  /** PodDisruptionBudgets with the name of the cluster; undefined if the operator may not write them. */
  readonly budgets: readonly LiveObject[] | undefined;
  /** Undefined in an API without EtcdPeers. */
  readonly peers: LivePeers | undefined;
  /** PVCs of members, without PVCs of other clusters. */
  readonly claims: readonly LiveClaim[];
  /** PVCs of removed members. */
  readonly keptClaims: readonly LiveObject[];
  /** All PVCs with an ownerReference to the cluster. */
  readonly ownedClaims: readonly LiveObject[];
  /** Pods of members, and the PVCs that they mount. */
  readonly memberObjects: readonly (MemberObject | UnreadObject)[];
}

/** Everything that the upkeep of a pass is decided by. */
export interface UpkeepWorld extends ClusterWorld {
  readonly blueprint: Blueprint;
  readonly live: LiveObjects;
  /** The verdict of the pass. */
  readonly verdict: Verdict;
}

/** Decides one kind of upkeep. */
export type UpkeepRule = (world: UpkeepWorld) => readonly UpkeepStep[];
