import type { Member, Memory, PreUpgradeBackup } from '../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../core/cluster/model/names.ts';
import type { Step, Verdict } from '../../core/cluster/plan/step.ts';
import type { ClusterStatus } from '../../core/cluster/status/cluster-status.ts';
import type { Blueprint, Manifest } from '../../core/manifests/manifest.ts';
import type { MemberPodInput } from '../../core/manifests/pod.ts';
import type { ManagedCertificates } from '../../core/pki/due.ts';
import type { Parsed } from './schema/parsed.ts';

/** An EtcdCluster, translated into the core's types. */
export interface ReadCluster {
  readonly blueprint: Blueprint;
  readonly memory: Memory;
  /** The Secret with the operator's client certificate, if etcd requires one. */
  readonly operatorSecret: ClientSecret | undefined;
  /** Set if the operator issues the certificates. */
  readonly managedCertificates?: ManagedCertificates | undefined;
  /** The Secret with the operator's username and password, if etcd auth is enabled. */
  readonly operatorCredentials: string | undefined;
  /** The EtcdBackup that serves as template for the pre-upgrade backup, if the spec requires one. */
  readonly backupBeforeUpgrade?: string | undefined;
  readonly peers: PeerObjects | undefined;
}

/** A Secret with a client certificate, and its keys. */
export interface ClientSecret {
  readonly name: string;
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

/** The kind that represents members: EtcdPeer in the improbable API. */
export interface PeerKind {
  readonly plural: string;
  readonly kind: string;
  /** The finalizer of the original operator. The operator removes it, because nothing else would. */
  readonly oldFinalizer: string;
}

/** How EtcdPeers are written, in an API that has them. */
export interface PeerObjects {
  /** `voters`: the last known voters, for a restarting member while etcd does not answer. */
  readonly wanted: (body: MemberPodInput, voters: readonly MemberName[]) => Manifest;
  /** The status of the EtcdPeer of a member; equal to the previous status if nothing has changed. */
  readonly writeStatus: (member: Member | undefined, before: PreviousPeerStatus) => object;
}

/** The previous status of an EtcdPeer, and the current generation of its spec. */
export interface PreviousPeerStatus {
  readonly previous: unknown;
  readonly generation: number | undefined;
}

/** The upgrade that a pre-upgrade backup belongs to. */
export interface PreUpgradeTarget {
  readonly namespace: string;
  readonly cluster: string;
  /** The version that members are upgraded to afterwards. */
  readonly version: string;
}

export interface PreUpgradeBackupDialect {
  readonly plural: string;
  readonly kind: string;
  /** Copies the spec of an EtcdBackup into one that runs once and stores the object under its own name. */
  readonly specFrom: (template: unknown, target: PreUpgradeTarget) => object;
  /** `blocked`: the backup cannot start, for now or because its spec is invalid. */
  readonly stateOf: (
    raw: unknown,
  ) => Pick<PreUpgradeBackup, 'why'> & { readonly state: 'under-way' | 'good' | 'failed' | 'blocked' };
}

/** The content of an Event. */
export interface EventContent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** The input of `writeStatus`. */
export interface Findings {
  readonly status: ClusterStatus;
  readonly blueprint: Blueprint;
  readonly generation: number | undefined;
  readonly now: Date;
}

/** An object that an original operator uses as leader lock: the holder is in an annotation. */
export interface LegacyLockObject {
  readonly plural: 'endpoints' | 'configmaps';
  readonly kind: string;
  readonly name: string;
  /** True if the original named this object by the flag that names our Lease. */
  readonly isNamedByFlag?: boolean;
}

/** The translator of one cluster API, in both directions. The core is shared by all APIs. */
export interface ClusterDialect {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** The spec field with the settings of member pods. */
  readonly podField: string;
  /** The label selector of all objects that belong to clusters of this API. */
  readonly selector: string;
  /** The label with the cluster name on a pod, PVC or EtcdPeer. PVCs without an owner are found by it. */
  readonly clusterLabel: string;
  /** The kind that represents members, if the API has one. */
  readonly peers?: PeerKind;
  /** `--cluster-wide` serves only clusters with this annotation; other operators serve only clusters without it. */
  readonly scopeAnnotation?: string;
  /** The leader lock of the original operator. */
  readonly legacyLock?: LegacyLockObject;
  /** True if the original operator runs every pod in a ReplicaSet. */
  readonly hadReplicaSets?: boolean;
  /** True if the API has EtcdBackups. */
  readonly hasBackups?: boolean;
  /** The kind of pre-upgrade backups. */
  readonly preUpgradeBackups?: PreUpgradeBackupDialect;
  /** True if the API has EtcdBackupSchedules. */
  readonly hasSchedules?: boolean;
  /** True if the API has EtcdRestores. */
  readonly hasRestores?: boolean;
  /** The reporting component of its Events; by default the operator's pod. */
  readonly eventSource?: string;
  readonly read: (raw: unknown) => Parsed<ReadCluster>;
  /** The status to publish; equal to `previous` if nothing has changed. */
  readonly writeStatus: (findings: Findings, previous: unknown) => object;
  /** The status of an object with an invalid spec: the problems, and the previous status. */
  readonly writeProblems: (problems: string, previous: unknown, now: Date) => object;
  /** The status of a cluster that could not be observed: the reason, and the previous status. */
  readonly writeUnobserved: (why: string, previous: unknown, now: Date) => object;
  /** Events that warn about a valid but questionable spec. */
  readonly eventsOfSpec: (blueprint: Blueprint) => readonly EventContent[];
  /** Events of a step that was taken. */
  readonly eventsOfStep: (step: Step) => readonly EventContent[];
  /** Events of members with another version than in the previous status. */
  readonly eventsOfMembers: (previous: unknown, status: object) => readonly EventContent[];
  /** Events of a pass that ends in a wait. */
  readonly eventsOfWait: (verdict: Verdict) => readonly EventContent[];
}
