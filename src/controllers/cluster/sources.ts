import type { ClusterDialect } from '../../dialects/dialect.ts';
import type { Expected } from '../../etcd/answers.ts';
import type { EtcdConnections } from '../../etcd/connections.ts';
import type { Address, Way } from '../../etcd/endpoint.ts';
import type { KubeClient } from '../../kube/client.ts';
import type {
  At,
  KubeObject,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
  Stored,
} from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Store } from '../../runtime/store.ts';
import type { RememberedSecrets } from './remembered-secrets.ts';
import type { Watched } from './watched.ts';
import type { Writer } from './writer.ts';

/** An object of a dialect's own kind, as the server keeps it. What is in it is for the dialect to read. */
export interface ClusterObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** What the operator has copies of. */
export interface Caches {
  readonly clusters: Store<ClusterObject>;
  readonly pods: Store<Pod>;
  readonly claims: Store<PersistentVolumeClaim>;
  readonly services: Store<Service>;
  /** Not there when the operator may not make any. */
  readonly budgets: Store<PodDisruptionBudget> | undefined;
}

/** Objects that stand for members, and where they are. */
export interface PeerShelf {
  readonly resource: Resource<ClusterObject>;
  readonly store: Store<ClusterObject>;
  readonly oldFinalizer: string;
}

/** All that one controller of clusters works with. */
export interface Tools {
  readonly dialect: ClusterDialect;
  readonly resource: Resource<ClusterObject>;
  /** Whether a cluster is for this operator to look after. */
  readonly isOurs: (metadata: KubeObject['metadata']) => boolean;
  /** Whether this operator still leads; not there where it need not. */
  readonly leads?: (() => boolean) | undefined;
  /** What to say of a cluster whose name another API has given away before, in the same namespace. */
  readonly refusalOf?: (object: Stored<ClusterObject>) => string | undefined;
  /** Not there in an API that has no objects for members. */
  readonly peers?: PeerShelf | undefined;
  /** For reading what the operator keeps no copy of. */
  readonly client: Pick<KubeClient, 'get'>;
  /** For all objects of a kind, where those with our labels are not enough. */
  readonly list: KubeClient['list'];
  readonly writer: (key: string) => Writer;
  /** Whether the caches have seen all that was written for a cluster. */
  readonly caughtUp: (key: string) => boolean;
  /** How many seconds ago the status of a cluster was last written. */
  readonly toldAgo: (key: string) => number;
  readonly caches: Caches;
  readonly etcd: EtcdConnections;
  /** Whether we may keep Secrets of our own. */
  readonly keepsSecrets: boolean;
  /** Whether we may delete them when nobody needs them any more; and which of them were seen to be gone, by cluster. */
  readonly dropsSecrets: boolean;
  readonly tidied: Map<string, string>;
  /** What was read of Secrets; without it, they are read in every pass. */
  readonly secrets?: RememberedSecrets | undefined;
  /** How to reach pods, for an operator that is not among them; `expected` is etcd on its client port. */
  readonly wayTo?: ((pod: At, address: Address, expected?: Expected) => Way) | undefined;
  /** How long what passes see has been so; without it, nothing has been so for long. */
  readonly watched?: Watched | undefined;
  readonly now: () => Date;
  /** Milliseconds of a clock that nobody sets; that of the process, if left out. */
  readonly monotonic?: (() => number) | undefined;
  /** A name nobody has: chance is an argument. */
  readonly randomName: (cluster: string) => string;
  readonly tell: (about: ClusterObject, told: { type: 'Normal' | 'Warning'; reason: string; message: string }) => void;
  readonly log: (level: 'debug' | 'info' | 'warn', message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** The name of the index by which stores find what an object owns. */
export const ownerIndex = 'owner';
/** The same for what says by a label of which cluster it is a part, under the key of the cluster. */
export const clusterIndex = 'cluster';
