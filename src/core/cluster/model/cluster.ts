import type { Due } from '../../pki/due.ts';
import type { Stage } from '../../pki/staging.ts';
import type { ClusterIntent } from './intent.ts';
import type { MemberObject } from './live-objects.ts';
import type { MemberId, MemberName } from './names.ts';
import type { KeptVolume } from './removed-volumes.ts';

/** A value that may be unknown. An unreachable etcd is never treated as an empty etcd. */
export type MaybeSeen<T> =
  | { readonly seen: true; readonly value: T }
  | {
      readonly seen: false;
      /** The cause, for condition messages. */
      readonly why: string;
      /** The error of the transport, for the log only. */
      readonly detail?: string;
      /** The answer of a member without quorum. It may only be used to start missing members. */
      readonly unconfirmed?: T;
      /** Set if members answered and refused the operator's credentials. */
      readonly refused?: Refusal;
    };

/**
 * `unknown-user`: etcd rejects the user name or password. `no-user`: no user was given, or the user lacks permissions.
 */
export type Refusal = 'unknown-user' | 'no-user';

export interface Member {
  readonly id: MemberId;
  /** The name of the member pod in its peer URL. A member that has never started has no name in etcd yet. */
  readonly name: MemberName;
  readonly peerURLs: readonly string[];
  readonly role: 'voter' | 'learner';
  /**
   * `silent`: has started before, and does not answer. `lost`: answers, but follows no leader of this cluster.
   * `leaving`: answers, but its pod is terminating, so the member does not count as healthy.
   */
  readonly health: 'healthy' | 'leaving' | 'lost' | 'silent' | 'never-started';
  /**
   * How long, and in how many consecutive passes, this operator has seen the member unhealthy; undefined if healthy.
   */
  readonly silence?: Silence | undefined;
  /** True if the member has never published its client URL: a bootstrap member that has not started. */
  readonly hasNeverServed?: boolean;
  readonly leads: boolean;
  readonly version: string | undefined;
  /** The applied Raft index; undefined if the member does not answer. */
  readonly raftIndex: bigint | undefined;
  /** The storage version of its data, from etcd 3.6 on. */
  readonly storageVersion: string | undefined;
  /** The target of a downgrade that is enabled in etcd. */
  readonly downgradeTarget: string | undefined;
  /** Alarms that etcd has raised about this member, by etcd's own names: NOSPACE, CORRUPT. */
  readonly alarms?: readonly string[];
}

export interface Silence {
  readonly millis: number;
  readonly observations: number;
}

export interface MemberPod {
  readonly name: MemberName;
  readonly uid: string;
  /**
   * `gone`: a PVC without a pod. `ended`: a pod that will never run again, for example after an eviction. `stuck`: the
   * pod cannot start, and `why` names the cause.
   */
  readonly phase: 'starting' | 'stuck' | 'running' | 'stopping' | 'ended' | 'gone';
  readonly ready: boolean;
  readonly why: string;
  /** The node of the pod, and whether that node is NotReady. */
  readonly node?: string | undefined;
  readonly isNodeLost?: boolean;
  /** True if its container has started at least once: the image can be pulled and the node can run it. */
  readonly hasRun: boolean;
  /** The time since when the pod is unready, in milliseconds by the clock of its node; undefined if ready. */
  readonly unreadySince: number | undefined;
  /**
   * How long this operator has seen the pod ready, unready or terminating without interruption, by its own clock.
   * Destructive steps use these durations only, never timestamps of other machines.
   */
  readonly readyMillis?: number | undefined;
  readonly unreadyMillis?: number | undefined;
  readonly stoppingMillis?: number | undefined;
  /** True if the pod was ready after its last start and is unready now. */
  readonly hasFallenUnready?: boolean;
  /** True if the pod is or has been ready, also if its container has restarted since. */
  readonly hasBeenReady?: boolean;
  /** True if `version` may have written data to the PVC: its container or an earlier pod may have run. */
  readonly mayHaveData?: boolean;
  /** True if readiness means an open port only: the kubelet cannot query etcd if clients need a certificate. */
  readonly listensOnly?: boolean;
  /** The time since when the pod is ready, in milliseconds; undefined if unknown. */
  readonly readySince?: number | undefined;
  /** The termination grace period of a terminating pod, in milliseconds. */
  readonly graceMillis?: number | undefined;
  /** True if etcd refuses to start on an empty volume, instead of forming or joining a cluster again. */
  readonly bootstrapForbidden: boolean;
  /** True if the pod has the label by which the client Service selects members. */
  readonly serves?: boolean;
  /** How long this operator has seen the pod without that label. */
  readonly withdrawnMillis?: number | undefined;
  readonly volume: Volume;
  /** The name of its PVC, if any. */
  readonly claim?: string | undefined;
  /** The version of its image; without a pod, the version that last ran on its volume. */
  readonly version: string;
  readonly image: string;
  /** True if its image was changed and its container has not restarted yet. */
  readonly isChanging?: boolean;
  /** A hash of the pod template, without image and labels. */
  readonly template: string;
  /** A hash of the volume claim template, if the pod has a PVC. */
  readonly volumeKind?: string | undefined;
  /** The hash of the CAs that etcd read at start, if the operator manages the certificates. */
  readonly caHash?: string | undefined;
  readonly drift: Drift;
  /** True if another operator created the pod and it has not been adopted yet. */
  readonly isForeign?: boolean;
}

/** A ReplicaSet of another operator that would recreate the pod of a member. */
export interface LegacyReplicaSet {
  readonly name: MemberName;
  readonly uid: string;
  /** True if the ReplicaSet is terminating. */
  readonly isLeaving: boolean;
}

/**
 * How a member pod differs from the spec, apart from its image. `labels`: can be patched on the running pod. `pod`:
 * needs a new pod. `volume`: needs a new PVC, so another member has to replace it.
 */
export type Drift = 'none' | 'labels' | 'pod' | 'volume';

/** `own`: a PVC. `with-pod`: an emptyDir, deleted with the pod. `lost`: the PVC is missing. */
export type Volume = 'own' | 'with-pod' | 'lost';

/** What the status records of a cluster, before any step that depends on it. */
export interface Memory {
  readonly bootstrap: Bootstrap | undefined;
  /** etcd's cluster ID, once the cluster has formed. From then on no member may bootstrap. */
  readonly clusterId: string | undefined;
  /** The voters when a majority last answered. */
  readonly voters: readonly MemberName[];
  /** The last version that all members ran at the same time. */
  readonly version: string | undefined;
  /** Set if the PVCs belong to several clusters: a message with the choice that the user has to make. */
  readonly ambiguity?: string;
}

/** True if this operator has recorded the cluster: it is bootstrapping or has formed. */
export const isOurs = ({ bootstrap, clusterId }: Pick<Memory, 'bootstrap' | 'clusterId'>): boolean =>
  bootstrap !== undefined || clusterId !== undefined;

/** True if only another operator has recorded the members of the cluster. */
export const isInherited = (memory: Memory): boolean => !isOurs(memory) && memory.voters.length > 0;

/** True if any operator has recorded the cluster. */
export const hasHistory = (memory: Memory): boolean => isOurs(memory) || isInherited(memory);

export interface Bootstrap {
  readonly members: readonly MemberName[];
  readonly token: string;
  /** True if the members are exactly those with retained PVCs. etcd decides whether they are a quorum. */
  readonly onRetainedVolumes?: boolean | undefined;
}

/** The membership that etcd reported in this pass by a linearizable read, so that a majority has confirmed it. */
export interface Membership {
  readonly clusterId: string;
  readonly members: readonly Member[];
  /** Alarms of removed members. They stay until they are disarmed. */
  readonly leftAlarms?: readonly string[];
  /**
   * True if no member has reported its alarms yet. Only with etcd before 3.4, which does not report them in its status.
   */
  readonly areAlarmsUnknown?: boolean;
}

/** The state of the certificates that the operator manages for members. */
export interface Certificates {
  readonly due: Due;
  /** The next stage of the rollout; undefined if the stored certificates are up to date. */
  readonly next: Stage | 'publish' | undefined;
  /** The hash of the stored CAs. A member that starts now trusts these. */
  readonly caHash: string | undefined;
  /** True if every running member serves the stored certificate. Checked only if the next stage depends on it. */
  readonly isServedByAll: boolean;
  /** True if the served certificates have expired, so that all connections fail. Checked only if a stage follows. */
  readonly haveExpired?: boolean;
}

/**
 * The backup that must succeed before the first member moves to another minor, because a downgrade may be impossible.
 * `stale`: the backup failed a while ago, or was made for an earlier upgrade, and is replaced.
 */
export interface PreUpgradeBackup {
  readonly name: string;
  readonly state: 'missing' | 'under-way' | 'good' | 'failed' | 'stale';
  /** The cause if the backup is blocked or has failed; otherwise empty. */
  readonly why: string;
}

/** A PVC that is being resized: its current size, its requested size, and the progress that Kubernetes reports. */
export interface GrowingVolume {
  readonly name: MemberName;
  readonly has: string;
  readonly wanted: string;
  readonly why: string;
  readonly hasFailed: boolean;
}

/** A pod or PVC of a voter that the API server has and no cache shows. */
export interface HiddenObject {
  /** What hides the object, for the condition. */
  readonly why: string;
  /** The object, if it has lost its labels and gets them back. */
  readonly lost?: MemberObject;
  /** True if another object has the name of a member, so that a user has to act. */
  readonly isTaken?: true;
}

/** A change of client TLS. `either-way`: members serve both http and https for as long as the spec asks for it. */
export type ClientMigration = 'to-encryption' | 'to-plain' | 'either-way';

/** Everything that one pass knows. Observed once, immutable. */
export interface ClusterWorld {
  readonly now: number;
  readonly intent: ClusterIntent;
  readonly memory: Memory;
  readonly memberPods: readonly MemberPod[];
  readonly membership: MaybeSeen<Membership>;
  /**
   * How long the cluster has had no quorum, by the operator's own clock; undefined with quorum, or before the cluster
   * has formed.
   */
  readonly withoutQuorumMillis?: number | undefined;
  /** The limit of clusters that roll at once. Set only if this cluster would begin to roll and must wait. */
  readonly rollLimit?: number;
  /** Observed only if the plan would conclude that quorum is lost: see `needsHidden`. */
  readonly hidden?: readonly HiddenObject[];
  /** The members that the client Service leads to. Observed only if the plan depends on it: `needsClientEndpoints`. */
  readonly clientEndpoints?: readonly MemberName[] | 'unknown' | undefined;
  /** Problems with the Secrets that the spec names, as messages. */
  readonly secretProblems: readonly string[];
  /** A problem with the Secret of the operator's etcd user, while auth is off and the Secret is not needed. */
  readonly unneededSecret?: string | undefined;
  /** True if all members run without TLS and the TLS Secrets are missing: members can still join without TLS. */
  readonly startsWithoutSecrets?: boolean | undefined;
  /** True if etcd has users. Checked only before an upgrade that users block. */
  readonly hasUsers?: boolean;
  /** Undefined if the operator manages no certificates. */
  readonly certificates?: Certificates | undefined;
  /** The current change of client TLS, and whether the status already reports it. */
  readonly clientMigration?: ClientMigration | undefined;
  readonly isMigrationAnnounced?: boolean;
  /** Secrets of ours that no member uses after TLS was switched off. */
  readonly obsoleteSecrets?: readonly string[];
  /** Undefined if the spec requires no backup, or if the next version is of the same minor. */
  readonly preUpgradeBackup?: PreUpgradeBackup | undefined;
  /** Unused names for new members, generated before the pass so that planning stays deterministic. */
  readonly spareNames: readonly MemberName[];
  /** Member names of retained PVCs without a record of their cluster. */
  readonly retainedVolumes?: readonly MemberName[];
  /** Member names of PVCs that belong to another cluster: see `belongsToAnother`. */
  readonly foreignVolumes?: readonly MemberName[];
  /** Member names that are unavailable because a foreign EtcdPeer has the name. */
  readonly foreignPeers?: readonly MemberName[];
  /** PVCs of removed members. */
  readonly keptVolumes?: readonly KeptVolume[];
  /** PVCs that are smaller than requested. */
  readonly growingVolumes?: readonly GrowingVolume[];
  /** Observed only while this operator has not recorded the cluster. */
  readonly legacyReplicaSets?: readonly LegacyReplicaSet[];
  /** A message with the permission that the operator lacks and needs before any step. */
  readonly missingPermission?: string | undefined;
}

/** A world in which etcd has reported its membership. */
export interface KnownWorld extends ClusterWorld {
  readonly membership: Extract<MaybeSeen<Membership>, { seen: true }>;
}

export const isKnown = (world: ClusterWorld): world is KnownWorld => world.membership.seen;

export const memberPodNamed = (world: ClusterWorld, name: MemberName): MemberPod | undefined =>
  world.memberPods.find((memberPod) => memberPod.name === name);
