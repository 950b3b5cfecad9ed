import type { Due } from '../certificates/due.ts';
import type { Stage } from '../certificates/staging.ts';
import type { ClusterIntent } from './intent.ts';
import type { KeptVolume } from './kept-volumes.ts';
import type { CarrierName, MemberId } from './names.ts';

/** Not knowing is a fact of its own: an unreachable etcd is not an empty etcd. */
export type Sighting<T> =
  | { readonly seen: true; readonly value: T }
  /**
   * A *rumour* is what one says without a majority behind it: good enough to start what is missing, and no more.
   * `refused`: those who answered do not let in whom we say we are.
   */
  | {
      readonly seen: false;
      /** In plain words, for people. */
      readonly why: string;
      /** What the transport said, for the log alone. */
      readonly detail?: string;
      readonly rumour?: T;
      readonly refused?: Refusal;
    };

/** `unknown-user`: with the name and password that we gave. `no-user`: nobody, or somebody who may not do what we have to. */
export type Refusal = 'unknown-user' | 'no-user';

export interface Member {
  readonly id: MemberId;
  /** The carrier that its peer URL leads to, also when it has never started and so has no name yet. */
  readonly name: CarrierName;
  readonly peerURLs: readonly string[];
  readonly role: 'voter' | 'learner';
  /**
   * `silent`: it has started once, and does not answer now. `lost`: it answers, but follows no leader of this cluster.
   * `leaving`: it still answers, and well, but its pod has been told to stop: nobody may count on it any more.
   */
  readonly health: 'healthy' | 'leaving' | 'lost' | 'silent' | 'never-started';
  /** For how long, and in how many passes in a row, this operator has not found it healthy; undefined while it is. */
  readonly silence?: Silence | undefined;
  /** It has not said yet where clients find it, as everybody does once it has started: a founder that came too late for that. */
  readonly hasNeverServed?: boolean;
  readonly leads: boolean;
  readonly version: string | undefined;
  /** How far it has come in the log that all share; unknown when it does not answer. */
  readonly raftIndex: bigint | undefined;
  /** The version its data can be read by, from 3.6 on. */
  readonly storageVersion: string | undefined;
  /** The version that the cluster has been told to go back to, while it has. */
  readonly downgradeTarget: string | undefined;
  /** Alarms that etcd has raised about this member, by etcd's own names: NOSPACE, CORRUPT. */
  readonly alarms?: readonly string[];
}

export interface Silence {
  readonly millis: number;
  readonly looks: number;
}

export interface Carrier {
  readonly name: CarrierName;
  readonly uid: string;
  /**
   * `gone`: no pod, but a disk. `ended`: a pod that will never run again, evicted for example. `stuck`: it cannot start,
   * and `why` says what stands in the way.
   */
  readonly phase: 'starting' | 'stuck' | 'running' | 'stopping' | 'ended' | 'gone';
  readonly ready: boolean;
  readonly why: string;
  /** The node that it was scheduled to, and whether Kubernetes has declared that node not ready. */
  readonly node?: string | undefined;
  readonly isNodeLost?: boolean;
  /** Whether its container has been started at least once, so that the image and the node are known to be good. */
  readonly hasRun: boolean;
  /** Since when it has not been ready, in milliseconds of its node's clock; undefined while it is. */
  readonly unreadySince: number | undefined;
  /**
   * For how long this operator has watched it be ready, be unready or be told to stop, without interruption and by the
   * operator's own clock. What may destroy something goes by these, and never by times that another machine has written down.
   */
  readonly readyMillis?: number | undefined;
  readonly unreadyMillis?: number | undefined;
  readonly stoppingMillis?: number | undefined;
  /** Whether it was ready since it last started, and is no more. */
  readonly hasFallenUnready?: boolean;
  /** Its readiness says only that its port is open: where clients need a certificate, the kubelet cannot ask etcd itself. */
  readonly listensOnly?: boolean;
  /** Since when it has been, in milliseconds, where that is known. */
  readonly readySince?: number | undefined;
  /** How long it may take to stop, in milliseconds, where it has been told to. */
  readonly graceMillis?: number | undefined;
  /** With an empty disk it refuses to start, instead of forming or joining a cluster anew. */
  readonly sealed: boolean;
  readonly disk: Disk;
  /** The name of its PVC, where it has one. */
  readonly claim?: string | undefined;
  /** The version of its image; where there is no pod, the version that last ran on its disk. */
  readonly version: string;
  readonly image: string;
  /** Whether its container has not started again yet since it was given another image. */
  readonly isChanging?: boolean;
  /** A mark of all that it was made from, apart from image and labels. */
  readonly template: string;
  /** A mark of the kind of disk that it was made with, where it has one of its own. */
  readonly diskKind?: string | undefined;
  /** A mark of the authorities that it read when it started, where we keep them. */
  readonly believes?: string | undefined;
  readonly drift: Drift;
  /** Another operator has made it, and it is not ours yet. */
  readonly isForeign?: boolean;
}

/** What another operator has left behind to make the body of a member again by itself. */
export interface Keeper {
  readonly name: CarrierName;
  readonly uid: string;
  /** It has been told to go, and is still there. */
  readonly isLeaving: boolean;
}

/**
 * How a carrier differs from what the spec says today, its image aside. `labels`: in what can be changed while it runs.
 * `pod`: it needs another pod. `disk`: it needs another disk, and so another member has to take its place.
 */
export type Drift = 'none' | 'labels' | 'pod' | 'disk';

/** `own`: it comes back with it. `with-pod`: it goes with the pod. `lost`: there should be one, and it is gone. */
export type Disk = 'own' | 'with-pod' | 'lost';

/** What was written down for good, before anything was done that depends on it. */
export interface Memory {
  readonly bootstrap: Bootstrap | undefined;
  /** etcd's own id of the cluster, once it has formed. From then on nothing may ever start as new. */
  readonly clusterId: string | undefined;
  /** The voters when a majority last answered. */
  readonly voters: readonly CarrierName[];
  /** The version that all members ran when they last ran the same. */
  readonly version: string | undefined;
  /** Why nothing may be made of it before a person has said what is meant. */
  readonly doubt?: string;
}

/** Whether we have written anything down of a cluster: it is being founded, or there has been one. */
export const isOurs = ({ bootstrap, clusterId }: Pick<Memory, 'bootstrap' | 'clusterId'>): boolean =>
  bootstrap !== undefined || clusterId !== undefined;

/** Whether there has been a cluster of which only another operator has written down who its members are. */
export const isInherited = (memory: Memory): boolean => !isOurs(memory) && memory.voters.length > 0;

/** Whether anything at all is known of a cluster. */
export const hasHistory = (memory: Memory): boolean => isOurs(memory) || isInherited(memory);

export interface Bootstrap {
  readonly members: readonly CarrierName[];
  readonly token: string;
  /** They are those who left disks here, and nobody else: whether they are enough is for etcd to say. */
  readonly onLeftDisks?: boolean | undefined;
}

/** What etcd said of itself in this pass, linearizably: a majority has agreed to it. */
export interface Membership {
  readonly clusterId: string;
  readonly members: readonly Member[];
  /** Alarms of members that were removed since: they stand until they are disarmed. */
  readonly leftAlarms?: readonly string[];
  /** No member has answered yet which alarms stand. Only of members before 3.4, which do not report them in their status. */
  readonly areAlarmsUnknown?: boolean;
}

/** What there is to do about the certificates that we keep for members. */
export interface Certificates {
  readonly due: Due;
  /** What follows for those that are kept; nothing when they are those that are offered. */
  readonly next: Stage | 'publish' | undefined;
  /** A mark of the authorities that are kept, which whoever starts now believes. */
  readonly believed: string | undefined;
  /** Whether every member that runs was seen to show the certificate that is kept; looked at only where it matters. */
  readonly isShownByAll: boolean;
  /** Whether what members show has expired, so that nobody lets anybody in any more; looked at only where something follows. */
  readonly haveExpired?: boolean;
}

/**
 * The backup that must be good before the first member moves on to another minor, from which there may be no way back.
 * `stale`: it failed a while ago, or was made for an earlier upgrade; another takes its place.
 */
export interface Safeguard {
  readonly name: string;
  readonly state: 'missing' | 'under-way' | 'good' | 'failed' | 'stale';
  /** What stands in its way, if anything does. */
  readonly why: string;
}

/** A disk that is to become larger: how large it is and is to be, and how far that is, as far as anybody says so. */
export interface GrowingDisk {
  readonly name: CarrierName;
  readonly has: string;
  readonly wanted: string;
  readonly why: string;
  readonly hasFailed: boolean;
}
/** Where clients are on their way to. `either-way`: they are served with and without encryption, for as long as the spec says so. */
export type ClientMove = 'to-encryption' | 'to-plain' | 'either-way';

/** All that one pass may know. Taken once, never refreshed, never changed. */
export interface ClusterWorld {
  readonly now: number;
  readonly intent: ClusterIntent;
  readonly memory: Memory;
  readonly carriers: readonly Carrier[];
  readonly membership: Sighting<Membership>;
  /**
   * For how long fewer than a majority have answered, counted by this operator's own clock; not there while a majority does, or
   * before the cluster has formed.
   */
  readonly withoutQuorumMillis?: number | undefined;
  /** What is wrong with the Secrets that the spec names, in sentences for people. */
  readonly secretProblems: readonly string[];
  /** The same of the Secret with the operator's user, as long as etcd says that its auth is off, and so nobody needs it. */
  readonly unneededSecret?: string | undefined;
  /** Everybody speaks without encryption as yet, and so can newcomers, until there are Secrets to begin it with. */
  readonly startsWithoutSecrets?: boolean | undefined;
  /** Whether etcd has users, where it matters. */
  readonly hasUsers?: boolean;
  /** Where there are none to keep, nothing. */
  readonly certificates?: Certificates | undefined;
  /** Where clients have to change how they speak, and whether the status has told them. */
  readonly clientMove?: ClientMove | undefined;
  readonly isMoveTold?: boolean;
  /** Secrets of ours for encryption that was switched off, once nobody has it any more. */
  readonly leftSecrets?: readonly string[];
  /** Where none is wanted, or no other minor is next, nothing. */
  readonly safeguard?: Safeguard | undefined;
  /** Names that nobody has yet, for whoever needs a new one: chance is an argument. */
  readonly spareNames: readonly CarrierName[];
  /** Names of disks that were left here and say nothing of the cluster that left them, if it ever came to be. */
  readonly leftDisks?: readonly CarrierName[];
  /** Names of disks that never were this cluster's, although members might have such names: see `isStrangers`. */
  readonly strangeDisks?: readonly CarrierName[];
  /** Names that the next newcomer would have, did not somebody else's object stand for a member of that name. */
  readonly strangePeers?: readonly CarrierName[];
  /** Volumes of members that were removed. */
  readonly keptVolumes?: readonly KeptVolume[];
  /** Disks that are smaller than they are asked to be by now. */
  readonly growingDisks?: readonly GrowingDisk[];
  /** Looked for only where we have written nothing down yet. */
  readonly keepers?: readonly Keeper[];
  /** What would have to be seen before anything may be done, and is kept from us; in a sentence for people. */
  readonly outOfSight?: string | undefined;
}

export const carrierNamed = (world: ClusterWorld, name: CarrierName): Carrier | undefined =>
  world.carriers.find((carrier) => carrier.name === name);
