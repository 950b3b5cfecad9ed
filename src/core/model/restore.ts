import type { Agent, AgentFacts, AgentProgress } from './agent.ts';
import type { StorePlace } from './store-place.ts';

/** What is asked of a restore: a cluster that there is gets the data of a snapshot, or one is made of it. */
export interface RestoreIntent {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly cluster: string;
  /** `existing`: it loses what it has. `new`: there must be none of that name, nor anything that one has left. */
  readonly into: 'existing' | 'new';
  /** One that would make its cluster may take the place of one that is there. */
  readonly replaces?: boolean | undefined;
  readonly store: StorePlace;
  /** With whose credentials the store is opened. The operator's are shown to nobody: whoever has them works where it does. */
  readonly credentials: 'own' | 'operators';
  readonly serviceAccountName: string | undefined;
  /** How far revisions are to leap, so that clients which remember newer ones notice. */
  readonly revisionBump: number | undefined;
}

/**
 * How far a restore has come. `proving`: the object is looked at, and nothing else is touched. `seeding`: it is read to its
 * end, proven, and a member starts from it beside the cluster. `switching`: the cluster's own members make room for it. `growing`: the cluster is what
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

/** The cluster that is to be replaced or made, as it is now. */
export interface RestoredCluster {
  /** Not yet, where the restore is to make it. */
  readonly isThere: boolean;
  /** Who keeps its controller from touching it, as its controller has acknowledged. */
  readonly heldBy: string | undefined;
  /** Who asks for that. */
  readonly holdAskedBy: string | undefined;
  readonly clusterId: string | undefined;
  /** The version that it is to run. */
  readonly version: string;
  readonly isSettled: boolean;
  /** A majority has lost its data: its operator waits for a person. */
  readonly isLost?: boolean;
  /** Somebody has asked its operator to leave it as it is. */
  readonly isPaused?: boolean;
  /** What keeps it from growing until a person puts it right, in a sentence. */
  readonly trouble?: string | undefined;
  /** Whether volumes of removed members are kept for a while. */
  readonly keepsVolumes?: boolean;
  /** Pods and volumes of members other than the seed. */
  readonly oldPods: readonly Body[];
  readonly oldClaims: readonly Body[];
  readonly seed: Seed | undefined;
  /** Somebody else has a pod or a volume of the name that the seed was to have. */
  readonly isSeedNameTaken?: boolean;
}

export interface Body {
  readonly name: string;
  readonly uid: string;
  /** It is being deleted already. */
  readonly isGoing?: boolean;
  /** It should have been gone for a while: nobody is there to stop it, because its node is lost for example. */
  readonly isOverdue?: boolean;
}

export interface Seed extends Body {
  /** `refused`: the backup turned out to be no good. `locked`: it serves, and does not let us in until somebody says how. */
  readonly state: 'starting' | 'ready' | 'stopping' | 'broken' | 'refused' | 'locked';
  /** Why it is not ready. */
  readonly why: string;
  /** Whether it belongs to the cluster already, or to the restore still. */
  readonly isHandedOver: boolean;
  /** What it says itself, once it answers. */
  readonly clusterId: string | undefined;
  readonly memberId?: string | undefined;
  /** Its etcd has been started, and may answer any moment. */
  readonly isUp?: boolean;
  /** Of one that is broken: until when it was at work. */
  readonly workedUntil?: number | undefined;
  /** What is known of the snapshot, once it was read to its end. */
  readonly facts?: AgentFacts | undefined;
  /** How much of the snapshot has been read, while it is. */
  readonly progress?: AgentProgress | undefined;
}

export interface RestoreWorld {
  readonly now: number;
  readonly intent: RestoreIntent;
  readonly memory: RestoreMemory;
  readonly proof: Agent | undefined;
  /** Not there, or it cannot be read: the sentence says which. */
  readonly cluster: RestoredCluster | string;
  readonly isClusterGone: boolean;
  /** The cluster is to be made as the backup says, and that has not been read. */
  readonly isUndescribed?: boolean;
  /** Where the cluster is to be made: who or what has its name already, and what to do about it. */
  readonly taken: string | undefined;
  /** The backup lies on a volume, which two pods may not be able to mount at once. */
  readonly isOnVolume?: boolean;
  /** The seed's own volume is there still, and belongs to the restore. */
  readonly hasSeedVolume?: boolean;
  /** The seed's pod, as long as it is the restore's: one that has become a cluster's goes or stays with that. */
  readonly seedPod?: Body | undefined;
  /** Volumes of the old members, which the restore has taken into its keeping. */
  readonly aside: readonly Body[];
  /** Somebody has deleted the resource, or its whole namespace. */
  readonly isGoing?: boolean;
  /** Whether the resource stays until the restore is over, even if somebody deletes it. */
  readonly isPinned: boolean;
  /** A name nobody has yet, for the seed: chance is an argument. */
  readonly spareName: string;
  /** What keeps an agent from being started, in a sentence. */
  readonly obstacle: string | undefined;
}
