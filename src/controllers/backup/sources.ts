import type { AgentImage } from '../../core/desired/agent-pod.ts';
import type { BackupDialect } from '../../dialects/backup-dialect.ts';
import type { ClusterDialect } from '../../dialects/dialect.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { KubeObject, Pod } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Store } from '../../runtime/store.ts';
import type { OperatorsStore } from '../agents/operators-store.ts';
import type { TerminatingPods } from '../agents/terminating-pods.ts';
import type { ClusterObject, Tools } from '../cluster/sources.ts';

/** All that one controller of backups works with. */
export interface BackupTools extends Pick<Tools, 'writer' | 'caughtUp' | 'now' | 'tell' | 'log' | 'isOurs' | 'wayTo'> {
  readonly dialect: BackupDialect;
  readonly resource: Resource<ClusterObject>;
  /** The clusters that backups may name, of the same API. */
  readonly clusters: {
    readonly dialect: Pick<ClusterDialect, 'read' | 'kind'>;
    readonly resource: Resource<ClusterObject>;
  };
  readonly client: Pick<KubeClient, 'get'>;
  /** How long pods have been terminating. */
  readonly terminating: TerminatingPods;
  readonly caches: { readonly backups: Store<ClusterObject>; readonly agents: Store<Pod> };
  /** For backups that name no credentials of their own. */
  readonly operators: OperatorsStore;
  /** The image of the operator itself; a sentence where it cannot be found out. */
  readonly image: AgentImage | string;
}

export type BackupObject = ClusterObject & KubeObject;
