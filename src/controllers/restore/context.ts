import type { ClusterDialect } from '../../apis/common/dialect.ts';
import type { RestoreDialect } from '../../apis/common/restore-dialect.ts';
import type { AgentImage } from '../../core/manifests/agent-pod.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Pod } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Store } from '../../runtime/store.ts';
import type { ClusterObject, ControllerContext } from '../shared/context.ts';
import type { OperatorStore } from '../shared/operator-store.ts';
import type { TerminatingPods } from '../shared/terminating-pods.ts';
import type { AwaitedObjects } from './awaited-objects.ts';

type Shared =
  | 'writer'
  | 'caughtUp'
  | 'now'
  | 'recordEvent'
  | 'log'
  | 'isOurs'
  | 'etcd'
  | 'dialerTo'
  | 'randomName'
  | 'mayWriteSecrets'
  | 'secrets';

/** The controller context of EtcdRestores. */
export interface RestoreContext extends Pick<ControllerContext, Shared> {
  readonly dialect: RestoreDialect;
  readonly resource: Resource<ClusterObject>;
  /** EtcdClusters of the same API, which restores replace or create. */
  readonly clusters: {
    readonly dialect: Pick<ClusterDialect, 'read' | 'kind' | 'group' | 'version'>;
    readonly resource: Resource<ClusterObject>;
  };
  /** EtcdClusters of other APIs: their names are not available to new clusters. */
  readonly otherClusterKinds: readonly Resource<ClusterObject>[];
  /** Pods and PVCs are read live, not from a cache: a step on stale data could destroy a member. */
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  /** Objects that restores wait for. Without it, every pass lists all Pods and PVCs. */
  readonly awaitedObjects?: AwaitedObjects | undefined;
  /** Counts how long Pods have been terminating. */
  readonly terminating: TerminatingPods;
  readonly caches: { readonly restores: Store<ClusterObject>; readonly agents: Store<Pod> };
  /** The operator's store credentials, for restores without credentials of their own. */
  readonly operators: OperatorStore;
  /** The operator's own image, or a message if it is unknown. */
  readonly image: AgentImage | string;
}
