import type { BackupDialect } from '../../apis/common/backup-dialect.ts';
import type { ClusterDialect } from '../../apis/common/dialect.ts';
import { backupReconciler } from '../../controllers/backup/reconcile.ts';
import type { ClusterObject, ControllerContext } from '../../controllers/shared/context.ts';
import type { OperatorStore } from '../../controllers/shared/operator-store.ts';
import { TerminatingPods } from '../../controllers/shared/terminating-pods.ts';
import { namespaced } from '../../kube/resource.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import type { Runnable } from '../../runtime/manager.ts';
import type { Store } from '../../runtime/store.ts';
import { hasStore } from '../places.ts';
import { type AgentParts, agentController } from './agent-kinds.ts';

export interface BackupParts extends AgentParts {
  readonly dialect: BackupDialect;
  /** The cluster kind of the same API. */
  readonly clusters: ClusterDialect;
  readonly operators: OperatorStore;
  readonly dialerTo: ControllerContext['dialerTo'];
  readonly onCache: (declared: Store<ClusterObject>) => void;
}

/** The controller of the backups of one API, for the time this replica leads. */
export function backupController(parts: BackupParts): Runnable {
  const { dialect, clusters, operators, dialerTo, onCache } = parts;
  const resource = namespaced<ClusterObject>(dialect);
  return agentController(parts, {
    resource,
    purpose: 'backup',
    eventSource: dialect.eventSource,
    expects: 'agents',
    worksAtHome: hasStore({ store: operators }),
    reconciler: (shared, { declared, agents }) => {
      onCache(declared);
      return backupReconciler({
        ...shared,
        dialect,
        resource,
        operators,
        dialerTo,
        terminating: shared.memories.add('terminating', new TerminatingPods(clock)),
        clusters: { dialect: clusters, resource: namespaced<ClusterObject>(clusters) },
        caches: { backups: declared, agents },
      });
    },
  });
}
