import type { ManagedCertificates } from '../core/certificates/due.ts';
import type { Blueprint, Manifest } from '../core/desired/manifest.ts';
import type { Body } from '../core/desired/pod.ts';
import type { Member, Memory, Safeguard } from '../core/model/cluster.ts';
import type { CarrierName } from '../core/model/names.ts';
import type { Step, Verdict } from '../core/plan/cluster/step.ts';
import type { ClusterStatus } from '../core/status/cluster-status.ts';
import type { Parsed } from './parsed.ts';

/** A cluster as somebody asked for it, in the core's words. */
export interface ReadCluster {
  readonly blueprint: Blueprint;
  readonly memory: Memory;
  /** The Secret with which the operator itself enters, where clients need a certificate. */
  readonly operatorSecret: SecretOfClient | undefined;
  /** Set where the operator makes the certificates itself. */
  readonly managedCertificates?: ManagedCertificates | undefined;
  /** The Secret with its name and password, where etcd has users. */
  readonly operatorCredentials: string | undefined;
  /** The backup after whose likeness one is made before members move to another minor, where that is wanted. */
  readonly backupBeforeUpgrade?: string | undefined;
  readonly peers: PeerObjects | undefined;
}

/** A Secret with a client's certificate, and the names of the files in it. */
export interface SecretOfClient {
  readonly name: string;
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

/** The kind of those objects. */
export interface PeerKind {
  readonly plural: string;
  readonly kind: string;
  /** By which the original was told to do something before one goes; nobody would do it any more. */
  readonly oldFinalizer: string;
}

/** The objects that stand for members, in an API that has such. */
export interface PeerObjects {
  /** `voters`: as far as they are known, for whoever returns and has nobody to ask. */
  readonly wanted: (body: Body, voters: readonly CarrierName[]) => Manifest;
  /** What is known of the member that it stands for, if anything is; equal to what was said before when nothing is new. */
  readonly writeStatus: (member: Member | undefined, said: SaidOfPeer) => object;
}

/** What a status said before, and the generation of the spec that it speaks of now. */
export interface SaidOfPeer {
  readonly previous: unknown;
  readonly generation: number | undefined;
}

/** What a backup before an upgrade is made for. */
export interface Safeguarded {
  readonly namespace: string;
  readonly cluster: string;
  /** The version that members move to afterwards. */
  readonly version: string;
}

export interface SafeguardDialect {
  readonly plural: string;
  readonly kind: string;
  /** The spec of a backup that is made once, to where another one is made, but under another name there. */
  readonly specLike: (another: unknown, what: Safeguarded) => object;
  /** `blocked`: it cannot begin, for now or as it is written. */
  readonly stateOf: (
    raw: unknown,
  ) => Pick<Safeguard, 'why'> & { readonly state: 'under-way' | 'good' | 'failed' | 'blocked' };
}

/** Something that users are told once, when it happens. */
export interface Told {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What a status is made from. */
export interface Findings {
  readonly status: ClusterStatus;
  readonly blueprint: Blueprint;
  readonly generation: number | undefined;
  readonly now: Date;
}

/** An object in whose annotation an original says that it leads. */
export interface OldLockPlace {
  readonly plural: 'endpoints' | 'configmaps';
  readonly kind: string;
  readonly name: string;
  /** Whether the flag that names our Lease named this, in the original. */
  readonly isNamedByFlag?: boolean;
}

/** One user-facing API of clusters, in both directions. Everything between the two is shared. */
export interface ClusterDialect {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** The field of a spec that is about members' pods. */
  readonly podField: string;
  /** Finds everything that is made for clusters of this API, by its labels. */
  readonly selector: string;
  /** The label that names the cluster of a pod, PVC or EtcdPeer. PVCs without an owner are found by it. */
  readonly clusterLabel: string;
  /** The kind that stands for members. */
  readonly peers?: PeerKind;
  /** Only clusters with this annotation are for an operator of all namespaces, and only those without it for any other. */
  readonly scopeAnnotation?: string;
  /** Where its original keeps its lock. */
  readonly oldLock?: OldLockPlace;
  /** Whether its original has a ReplicaSet for every pod. */
  readonly hadReplicaSets?: boolean;
  /** Whether it has resources for backups. */
  readonly hasBackups?: boolean;
  /** The kind of which one is made before an upgrade. */
  readonly safeguards?: SafeguardDialect;
  /** Whether schedules of backups are resources of their own. */
  readonly hasSchedules?: boolean;
  /** Whether it has resources for restores. */
  readonly hasRestores?: boolean;
  /** Who speaks in its Events; the operator's pod where nobody is named. */
  readonly speaker?: string;
  readonly read: (raw: unknown) => Parsed<ReadCluster>;
  /** The status to publish; equal to `previous` when there is nothing new to say. */
  readonly writeStatus: (findings: Findings, previous: unknown) => object;
  /** The status of an object that cannot be read: what is wrong with it, beside what was known before. */
  readonly writeProblems: (problems: string, previous: unknown, now: Date) => object;
  /** The status of a cluster that could not be looked at: why, beside what was known before. */
  readonly writeUnobserved: (why: string, previous: unknown, now: Date) => object;
  /** What to tell of a spec that can be carried out, but perhaps is not what its author meant. */
  readonly tellSpec: (blueprint: Blueprint) => readonly Told[];
  /** What to tell when a step has been taken. */
  readonly tellStep: (step: Step) => readonly Told[];
  /** What to tell of members when a status has been published, and what it was before. */
  readonly tellMembers: (previous: unknown, status: object) => readonly Told[];
  /** What to tell when a Service has been made. */
  readonly tellService?: (name: string) => readonly Told[];
  /** What to tell when the operator can only wait. */
  readonly tellWait: (verdict: Verdict) => readonly Told[];
}
