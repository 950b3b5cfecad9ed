import { backupReconciler } from '../controllers/backup/reconcile.ts';
import type { ClusterObject } from '../controllers/cluster/sources.ts';
import { coreosBackups } from '../dialects/coreos-v1beta2/backup.ts';
import { coreos } from '../dialects/coreos-v1beta2/dialect.ts';
import { namespaced, type Resource } from '../kube/resource.ts';
import type { Runnable } from '../runtime/manager.ts';
import type { Store } from '../runtime/store.ts';
import { type AgentParts, agentController } from './agent-controller.ts';
import { backups } from './agent-kinds.ts';

const clusters: Resource<ClusterObject> = namespaced(coreos);

export interface BackupParts extends AgentParts {
  readonly onCache: (declared: Store<ClusterObject>) => void;
}

/** What looks after backups while this replica leads. */
export const backupController = (parts: BackupParts): Runnable =>
  agentController(parts, {
    resource: backups,
    purpose: 'backup',
    expects: 'agents',
    reconciler: (shared, { declared, agents }) => {
      parts.onCache(declared);
      return backupReconciler({
        ...shared,
        dialect: coreosBackups,
        resource: backups,
        clusters: { dialect: coreos, resource: clusters },
        caches: { backups: declared, agents },
      });
    },
  });
