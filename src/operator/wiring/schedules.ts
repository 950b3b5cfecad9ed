import type { BackupDialect } from '../../apis/common/backup-dialect.ts';
import type { ScheduleDialect } from '../../apis/common/schedule-dialect.ts';
import { scheduleReconciler } from '../../controllers/schedule/reconcile.ts';
import type { ClusterObject } from '../../controllers/shared/context.ts';
import { namespaced } from '../../kube/resource.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import type { Runnable } from '../../runtime/manager.ts';
import type { Store } from '../../runtime/store.ts';
import { type AgentParts, agentController } from './agent-kinds.ts';
import { waitForKind } from './kind-served.ts';

export interface ScheduleParts extends AgentParts {
  readonly dialect: ScheduleDialect;
  readonly backups: BackupDialect;
  readonly onSchedules: (dialect: ScheduleDialect, declared: Store<ClusterObject>) => void;
}

/** The controller of the schedules of one API, for the time this replica leads. Waits for the CRD first. */
export const scheduleController =
  (parts: ScheduleParts): Runnable =>
  async (signal) => {
    const { dialect } = parts;
    const resource = namespaced<ClusterObject>(dialect);
    const backups = namespaced<ClusterObject>(parts.backups);
    if (!(await waitForKind(resource, { ...parts, clock }, signal))) return;
    const running = agentController(parts, {
      resource,
      purpose: backups,
      eventSource: dialect.eventSource,
      expects: 'agents',
      reconciler: (shared, { declared, agents }) => {
        parts.onSchedules(dialect, declared);
        return scheduleReconciler({
          ...shared,
          dialect,
          resource,
          backups,
          caches: { schedules: declared, backups: agents as Store<ClusterObject> },
        });
      },
    });
    await running(signal);
  };
