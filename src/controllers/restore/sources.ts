import type { AgentImage } from '../../core/desired/agent-pod.ts';
import type { ClusterDialect } from '../../dialects/dialect.ts';
import type { RestoreDialect } from '../../dialects/restore-dialect.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Pod } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Store } from '../../runtime/store.ts';
import type { OperatorsStore } from '../agents/operators-store.ts';
import type { TerminatingPods } from '../agents/terminating-pods.ts';
import type { ClusterObject, Tools } from '../cluster/sources.ts';
import type { Glances } from './glance.ts';

type Shared =
  | 'writer'
  | 'caughtUp'
  | 'now'
  | 'tell'
  | 'log'
  | 'isOurs'
  | 'etcd'
  | 'wayTo'
  | 'randomName'
  | 'keepsSecrets'
  | 'secrets';

/** All that one controller of restores works with. */
export interface RestoreTools extends Pick<Tools, Shared> {
  readonly dialect: RestoreDialect;
  readonly resource: Resource<ClusterObject>;
  /** The clusters that are restored, of the same API. */
  readonly clusters: {
    readonly dialect: Pick<ClusterDialect, 'read' | 'kind' | 'group' | 'version'>;
    readonly resource: Resource<ClusterObject>;
  };
  /** Clusters of other APIs, whose names are taken. */
  readonly rivals: readonly Resource<ClusterObject>[];
  /** Members are looked up live: restores are rare, and a copy that is late would be a danger here. */
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  /** What restores wait for that is looked at alone; without it, everything is looked at in every pass. */
  readonly glances?: Glances | undefined;
  /** How long pods have been terminating. */
  readonly terminating: TerminatingPods;
  readonly caches: { readonly restores: Store<ClusterObject>; readonly agents: Store<Pod> };
  /** For restores that name no credentials of their own. */
  readonly operators: OperatorsStore;
  /** The image of the operator itself; a sentence where it cannot be found out. */
  readonly image: AgentImage | string;
}
