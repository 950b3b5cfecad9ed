import type { Agent, AgentFacts, AgentProgress } from '../backup/agent.ts';
import type { StoreLocation } from '../backup/store-location.ts';
import type { Due } from '../pki/due.ts';
import type { StoreProxy } from './store-proxy.ts';

/** The wanted state of a restore: a snapshot is restored into an existing cluster or into a new cluster. */
export interface RestoreIntent {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly cluster: string;
  /** `existing`: the cluster loses its data. `new`: no cluster of that name, nor objects of one, may exist. */
  readonly into: 'existing' | 'new';
  /** True if a restore into a new cluster may replace an existing cluster. */
  readonly replaces?: boolean | undefined;
  readonly store: StoreLocation;
  /**
   * `operators`: the agent uses the operator's credentials. It then runs in the operator's namespace, to protect them.
   */
  readonly credentials: 'own' | 'operators';
  readonly serviceAccountName: string | undefined;
  /** How far revisions are bumped, so that clients with newer revisions notice the restore. */
  readonly revisionBump: number | undefined;
}

/**
 * The phase of a restore. `proving`: the backup is checked, and nothing else is touched. `seeding`: the backup is
 * downloaded and verified, and a seed member starts from it beside the cluster. `switching`: the seed member replaces
 * the old members. `growing`: the restored cluster grows to its full size.
 */
export type RestorePhase = 'proving' | 'seeding' | 'switching' | 'growing' | 'complete' | 'failed';

/** What the status records of a restore, before any step that depends on it. */
export interface RestoreMemory {
  readonly phase: RestorePhase;
  /** The start of this phase. */
  readonly since: number;
  /** The seed: the first member of the restored cluster, from `seeding` on. */
  readonly seed: string | undefined;
  /** etcd's ID of the restored cluster, from `switching` on. */
  readonly clusterId: string | undefined;
}

/** The observed state of the cluster that is replaced or created. */
export interface RestoredCluster {
  /** False until the restore has created the cluster. */
  readonly isThere: boolean;
  /** The UID of the restore that holds the cluster, as acknowledged by the cluster controller. */
  readonly heldBy: string | undefined;
  /** The UID of the restore that asks to hold the cluster. */
  readonly holdAskedBy: string | undefined;
  readonly clusterId: string | undefined;
  /** spec.version of the cluster. */
  readonly version: string;
  readonly isSettled: boolean;
  /** True if a majority has lost its data and the operator waits for user action. */
  readonly isLost?: boolean;
  /** True if spec.paused is set. */
  readonly isPaused?: boolean;
  /** A message with the problem that blocks growth until the user acts. */
  readonly trouble?: string | undefined;
  /** True if PVCs of removed members are kept for a grace time. */
  readonly keepsVolumes?: boolean;
  /** Pods and PVCs of members other than the seed. */
  readonly oldPods: readonly ObjectRef[];
  readonly oldClaims: readonly ObjectRef[];
  readonly seed: Seed | undefined;
  /** True if a foreign pod or PVC has the name of the seed. */
  readonly isSeedNameTaken?: boolean;
}

export interface ObjectRef {
  readonly name: string;
  readonly uid: string;
  readonly isTerminating?: boolean;
  /** True if the object is terminating far beyond its grace period, for example because its node is lost. */
  readonly isOverdue?: boolean;
}

export interface Seed extends ObjectRef {
  /** `refused`: the backup is invalid. `locked`: etcd serves, but requires a user that the operator does not have. */
  readonly state: 'starting' | 'ready' | 'stopping' | 'broken' | 'refused' | 'locked';
  /** The cause if the seed is not ready. */
  readonly why: string;
  /** True if the seed belongs to the cluster; false if it still belongs to the restore. */
  readonly isHandedOver: boolean;
  /** The cluster ID that etcd reports, once it answers. */
  readonly clusterId: string | undefined;
  readonly memberId?: string | undefined;
  /** True if etcd has started and may answer at any moment. */
  readonly isUp?: boolean;
  /** The last time at which a broken seed was still working. */
  readonly workedUntil?: number | undefined;
  /** Facts about the snapshot, once it was read completely. */
  readonly facts?: AgentFacts | undefined;
  /** The progress of the download. */
  readonly progress?: AgentProgress | undefined;
}

export interface RestoreWorld {
  readonly now: number;
  readonly intent: RestoreIntent;
  readonly memory: RestoreMemory;
  readonly proof: Agent | undefined;
  /** A message if the cluster does not exist or cannot be read. */
  readonly cluster: RestoredCluster | string;
  readonly isClusterGone: boolean;
  /** True if the spec of the cluster comes from the backup and has not been read yet. */
  readonly isUndescribed?: boolean;
  /** For a new cluster: a message with the object that already has its name, and the remedy. */
  readonly nameConflict: string | undefined;
  /** True if the backup is on a PVC, which two pods may not be able to mount at once. */
  readonly isOnVolume?: boolean;
  /** True if the PVC of the seed exists and belongs to the restore. */
  readonly hasSeedVolume?: boolean;
  /** The pod of the seed while it belongs to the restore. */
  readonly seedPod?: ObjectRef | undefined;
  /** PVCs of the old members that the restore has set aside. */
  readonly retainedClaims: readonly ObjectRef[];
  /** True if the EtcdRestore or its namespace was deleted. */
  readonly isTerminating?: boolean;
  /** True if a finalizer keeps the EtcdRestore until the restore is over. */
  readonly isPinned: boolean;
  /** An unused name for the seed, generated before the pass so that planning stays deterministic. */
  readonly spareName: string;
  /** A message with the cause if no agent can be started. */
  readonly obstacle: string | undefined;
  /** Certificates that the operator issues for the cluster; undefined if it issues none. */
  readonly certificates?: IssuedForCluster | 'not owned' | undefined;
  /** Secrets that the seed owns although the EtcdCluster exists. Observed only if the plan needs it: `needsSeedSecrets`. */
  readonly seedSecrets?: readonly ObjectRef[];
  /** Observed only if the plan needs it: `needsStoreProxy`. */
  readonly storeProxy?: StoreProxy;
}

/** The managed certificates of a cluster. `not owned`: another object owns the Secrets with their names. */
interface IssuedForCluster {
  readonly due: Due;
  /** True if the Secret that members mount exists. */
  readonly isStaged: boolean;
}
