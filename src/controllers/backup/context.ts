import type { BackupDialect } from '../../apis/common/backup-dialect.ts';
import type { ClusterDialect } from '../../apis/common/dialect.ts';
import type { AgentImage } from '../../core/manifests/agent-pod.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Pod } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Store } from '../../runtime/store.ts';
import type { ClusterObject, ControllerContext } from '../shared/context.ts';
import type { OperatorStore } from '../shared/operator-store.ts';
import type { TerminatingPods } from '../shared/terminating-pods.ts';

/** The controller context of EtcdBackups. */
export interface BackupContext
  extends Pick<ControllerContext, 'writer' | 'caughtUp' | 'now' | 'recordEvent' | 'log' | 'isOurs' | 'dialerTo'> {
  readonly dialect: BackupDialect;
  readonly resource: Resource<ClusterObject>;
  /** EtcdClusters of the same API, which backups may name as their source. */
  readonly clusters: {
    readonly dialect: Pick<ClusterDialect, 'read' | 'kind'>;
    readonly resource: Resource<ClusterObject>;
  };
  readonly client: Pick<KubeClient, 'get'>;
  /** Counts how long Pods have been terminating. */
  readonly terminating: TerminatingPods;
  readonly caches: { readonly backups: Store<ClusterObject>; readonly agents: Store<Pod> };
  /** The operator's store credentials, for backups without credentials of their own. */
  readonly operators: OperatorStore;
  /** The operator's own image, or a message if it is unknown. */
  readonly image: AgentImage | string;
}
