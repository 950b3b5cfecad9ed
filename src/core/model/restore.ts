import type { Agent } from './agent.ts';
import type { StorePlace } from './store-place.ts';

/** What is asked of a restore: a cluster that there is gets the data of a snapshot, and loses what it had. */
export interface RestoreIntent {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly cluster: string;
  readonly store: StorePlace;
  readonly serviceAccountName: string | undefined;
  /** How far revisions are to leap, so that clients which remember newer ones notice. */
  readonly revisionBump: number | undefined;
}

/**
 * How far a restore has come. `proving`: the object is read to its end, and nothing else is touched. `seeding`: a member
 * starts from it beside the cluster. `switching`: the cluster's own members make room for it. `growing`: the cluster is what
 * was restored, and grows to its full size.
 */
export type RestorePhase = 'proving' | 'seeding' | 'switching' | 'growing' | 'complete' | 'failed';

/** What was written down for good, before anything was done that depends on it. */
export interface RestoreMemory {
  readonly phase: RestorePhase;
  /** When this phase began. */
  readonly since: number;
  /** The first member of what is restored, from `seeding` on. */
  readonly seed: string | undefined;
  /** etcd's id of what is restored, from `switching` on. */
  readonly clusterId: string | undefined;
}

/** The cluster that is to be replaced, as it is now. */
export interface RestoredCluster {
  /** Who keeps its controller from touching it, as its controller has acknowledged. */
  readonly heldBy: string | undefined;
  /** Who asks for that. */
  readonly holdAskedBy: string | undefined;
  readonly clusterId: string | undefined;
  /** The version that it is to run. */
  readonly version: string;
  readonly isSettled: boolean;
  /** Pods and volumes of members other than the seed. */
  readonly oldPods: readonly Body[];
  readonly oldClaims: readonly Body[];
  readonly seed: Seed | undefined;
}

export interface Body {
  readonly name: string;
  readonly uid: string;
  /** It is being deleted already. */
  readonly isGoing?: boolean;
}

export interface Seed extends Body {
  readonly state: 'starting' | 'ready' | 'stopping' | 'broken';
  /** Why it is not ready. */
  readonly why: string;
  /** Whether it belongs to the cluster already, or to the restore still. */
  readonly isHandedOver: boolean;
  /** What it says itself, once it answers. */
  readonly clusterId: string | undefined;
}

export interface RestoreWorld {
  readonly now: number;
  readonly intent: RestoreIntent;
  readonly memory: RestoreMemory;
  readonly proof: Agent | undefined;
  /** Not there, or it cannot be read: the sentence says which. */
  readonly cluster: RestoredCluster | string;
  readonly isClusterGone: boolean;
  /** Volumes of the old members, which the restore has taken into its keeping. */
  readonly aside: readonly Body[];
  /** Whether the resource stays until the restore is over, even if somebody deletes it. */
  readonly isPinned: boolean;
  /** A name nobody has yet, for the seed: chance is an argument. */
  readonly spareName: string;
  /** What keeps an agent from being started, in a sentence. */
  readonly obstacle: string | undefined;
}
