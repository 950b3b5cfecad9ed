import type { ClusterObject } from '../controllers/cluster/sources.ts';
import { scheduleReconciler } from '../controllers/schedule/reconcile.ts';
import type { BackupDialect } from '../dialects/backup-dialect.ts';
import type { ScheduleDialect } from '../dialects/schedule-dialect.ts';
import { namespaced } from '../kube/resource.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import type { Runnable } from '../runtime/manager.ts';
import type { Store } from '../runtime/store.ts';
import { type AgentParts, agentController } from './agent-controller.ts';
import { whenKindIsThere } from './kind-is-there.ts';

export interface ScheduleParts extends AgentParts {
  readonly dialect: ScheduleDialect;
  readonly backups: BackupDialect;
  readonly onSchedules: (dialect: ScheduleDialect, declared: Store<ClusterObject>) => void;
}

/** What looks after the schedules of one API while this replica leads, from when their kind is defined. */
export const scheduleController =
  (parts: ScheduleParts): Runnable =>
  async (signal) => {
    const { dialect } = parts;
    const resource = namespaced<ClusterObject>(dialect);
    const backups = namespaced<ClusterObject>(parts.backups);
    if (!(await whenKindIsThere(resource, { ...parts, clock }, signal))) return;
    const running = agentController(parts, {
      resource,
      purpose: backups,
      speaker: dialect.speaker,
      expects: 'agents',
      reconciler: (shared, { declared, agents }) => {
        parts.onSchedules(dialect, declared);
        return scheduleReconciler({
          ...{ ...shared, dialect, resource, backups },
          caches: { schedules: declared, backups: agents as Store<ClusterObject> },
        });
      },
    });
    await running(signal);
  };
