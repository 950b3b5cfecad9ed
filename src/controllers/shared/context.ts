import type { ClusterDialect } from '../../apis/common/dialect.ts';
import type { EtcdConnections } from '../../etcd/connections.ts';
import type { Address, Dialer } from '../../etcd/endpoint.ts';
import type { ExpectedServer } from '../../etcd/is-etcd.ts';
import type { KubeClient } from '../../kube/client.ts';
import type {
  KubeObject,
  NamespacedName,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
  Stored,
} from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Store } from '../../runtime/store.ts';
import type { Watched } from '../cluster/observe/watched.ts';
import type { RollTurns } from '../cluster/roll-turns.ts';
import type { SettledClusters } from '../cluster/settled.ts';
import type { SecretCache } from '../cluster/tls/secret-cache.ts';
import type { Writer } from './writer.ts';

/** A custom resource as the API server stores it. The dialect parses its spec and status. */
export interface ClusterObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** The caches of the operator. */
export interface Caches {
  readonly clusters: Store<ClusterObject>;
  readonly pods: Store<Pod>;
  readonly claims: Store<PersistentVolumeClaim>;
  readonly services: Store<Service>;
  /** Undefined if the operator may not create PodDisruptionBudgets. */
  readonly budgets: Store<PodDisruptionBudget> | undefined;
}

/** The EtcdPeers of an API: one object for each member. */
export interface PeerCache {
  readonly resource: Resource<ClusterObject>;
  readonly store: Store<ClusterObject>;
  readonly oldFinalizer: string;
}

/** The dependencies of a cluster controller. */
export interface ControllerContext {
  readonly dialect: ClusterDialect;
  readonly resource: Resource<ClusterObject>;
  /** True if a cluster is in the scope of this operator. */
  readonly isOurs: (metadata: KubeObject['metadata']) => boolean;
  /** True while this operator holds the lease; undefined without leader election. */
  readonly leads?: (() => boolean) | undefined;
  /** Returns why a cluster is refused: another API uses its name already in the same namespace. */
  readonly refusalOf?: (object: Stored<ClusterObject>) => string | undefined;
  /** Undefined in an API without EtcdPeers. */
  readonly peers?: PeerCache | undefined;
  /** Reads objects that are not cached. */
  readonly client: Pick<KubeClient, 'get'>;
  /** Lists all objects of a kind, also those without the labels of the cluster. */
  readonly list: KubeClient['list'];
  readonly writer: (key: string) => Writer;
  /** True if the caches show all writes for a cluster. */
  readonly caughtUp: (key: string) => boolean;
  /** The seconds since the status of a cluster was last written. */
  readonly secondsSinceStatusWrite: (key: string) => number;
  readonly caches: Caches;
  readonly etcd: EtcdConnections;
  /** True if the operator may create and patch Secrets. */
  readonly mayWriteSecrets: boolean;
  /** True if the operator may delete its Secrets once they are obsolete. */
  readonly mayDeleteSecrets: boolean;
  /** The obsolete Secrets that were found to be absent, by cluster. */
  readonly absentSecrets: Map<string, string>;
  /** The cache of Secrets; without it, every pass reads them. */
  readonly secrets?: SecretCache | undefined;
  /** Dials pods for an operator outside the pod network; `expected` is etcd on its client port. */
  readonly dialerTo?: ((pod: NamespacedName, address: Address, expected?: ExpectedServer) => Dialer) | undefined;
  /** Measures how long observed states have lasted; without it, no state has lasted. */
  readonly watched?: Watched | undefined;
  /** Remembers settled clusters; without it, every pass asks all members. */
  readonly settled?: SettledClusters | undefined;
  /** Limits how many clusters roll at once; without it, there is no limit. */
  readonly rollTurns?: RollTurns | undefined;
  /** Queues a cluster for its next pass. */
  readonly wake?: ((key: string) => void) | undefined;
  readonly now: () => Date;
  /** Milliseconds of a monotonic clock; that of the process by default. */
  readonly monotonic?: (() => number) | undefined;
  /** Returns a random, unused member name. */
  readonly randomName: (cluster: string) => string;
  readonly recordEvent: (
    about: ClusterObject,
    event: { type: 'Normal' | 'Warning'; reason: string; message: string },
  ) => void;
  readonly log: (level: 'debug' | 'info' | 'warn', message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** The index of objects by the UID of their owner. */
export const ownerIndex = 'owner';
/** The index of objects by the cluster that their label names. */
export const clusterIndex = 'cluster';
