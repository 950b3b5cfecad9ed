import type { OperatorsStore } from '../controllers/agents/operators-store.ts';
import { TerminatingPods } from '../controllers/agents/terminating-pods.ts';
import { backupReconciler } from '../controllers/backup/reconcile.ts';
import type { ClusterObject, Tools } from '../controllers/cluster/sources.ts';
import type { BackupDialect } from '../dialects/backup-dialect.ts';
import type { ClusterDialect } from '../dialects/dialect.ts';
import { namespaced } from '../kube/resource.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import type { Runnable } from '../runtime/manager.ts';
import type { Store } from '../runtime/store.ts';
import { type AgentParts, agentController } from './agent-controller.ts';
import { hasStore } from './places.ts';

export interface BackupParts extends AgentParts {
  readonly dialect: BackupDialect;
  /** The clusters of the same API. */
  readonly clusters: ClusterDialect;
  readonly operators: OperatorsStore;
  readonly wayTo: Tools['wayTo'];
  readonly onCache: (declared: Store<ClusterObject>) => void;
}

/** What looks after the backups of one API while this replica leads. */
export function backupController(parts: BackupParts): Runnable {
  const { dialect, clusters, operators, wayTo, onCache } = parts;
  const resource = namespaced<ClusterObject>(dialect);
  return agentController(parts, {
    resource,
    purpose: 'backup',
    speaker: dialect.speaker,
    expects: 'agents',
    worksAtHome: hasStore({ store: operators }),
    reconciler: (shared, { declared, agents }) => {
      onCache(declared);
      return backupReconciler({
        ...{ ...shared, dialect, resource, operators, wayTo },
        terminating: shared.memories.add('terminating', new TerminatingPods(clock)),
        clusters: { dialect: clusters, resource: namespaced<ClusterObject>(clusters) },
        caches: { backups: declared, agents },
      });
    },
  });
}
