import { z } from 'zod';
import type { ScheduleIntent } from '../../../core/schedule/model.ts';
import type { ReadSchedule, ScheduleDialect } from '../../common/schedule-dialect.ts';
import { timetableIn } from '../../common/schedule-settings.ts';
import { type Column, definitionOf, type Kind, schemaOf } from '../../common/schema/definition.ts';
import { metadataWith } from '../../common/schema/metadata.ts';
import { notLonger } from '../../common/schema/names.ts';
import { readerOf } from '../../common/schema/reading.ts';
import { isBackupBlocked } from '../../common/status/conditions.ts';
import { group, version } from '../names.ts';
import { storedBackupStatus } from './backup-status.ts';
import { etcdBackupScheduleSpec } from './schedule-spec.ts';
import {
  etcdBackupScheduleStatus,
  storedScheduleStatus,
  writeScheduleProblems,
  writeScheduleStatus,
} from './schedule-status.ts';

/** The name is used as a label value. */
const nameRules = [notLonger('schedule', 63)];

const etcdBackupSchedule = z.object({
  metadata: metadataWith(nameRules),
  spec: etcdBackupScheduleSpec,
  status: storedScheduleStatus.default({}),
});
type Resource = z.output<typeof etcdBackupSchedule>;

function translate(resource: Resource, raw: unknown): ReadSchedule {
  const { name, uid } = resource.metadata;
  const lastSlot = Date.parse(resource.status.lastScheduleTime ?? '');
  const { spec } = raw as { readonly spec: { readonly backupTemplate: Readonly<Record<string, unknown>> } };
  return {
    intent: intentOf(resource),
    lastSlot: Number.isNaN(lastSlot) ? undefined : lastSlot,
    owner: { apiVersion: `${group}/${version}`, kind: 'EtcdBackupSchedule', name, uid, controller: true },
    backupSpec: spec.backupTemplate,
    objectUrl: {
      template: resource.spec.backupTemplate.destination.objectURLTemplate,
      field: 'spec.backupTemplate.destination.objectURLTemplate',
    },
  };
}

/** The original keeps all EtcdBackups. */
const defaultHistory = 10;

function intentOf({ metadata, spec }: Resource): ScheduleIntent {
  const { name, namespace, uid, creationTimestamp } = metadata;
  const createdAt = Date.parse(creationTimestamp ?? '') || 0;
  const { successfulBackupsHistoryLimit: good = defaultHistory, failedBackupsHistoryLimit: bad = defaultHistory } =
    spec;
  return {
    name,
    namespace,
    uid,
    createdAt,
    paused: spec.suspend === true,
    timetable: timetableIn(spec, createdAt),
    startingDeadlineSeconds: spec.startingDeadlineSeconds,
    history: { succeeded: good, failed: bad },
  };
}

const scheduledAtAnnotation = `${group}/scheduled-at`;

const stateOfPhase = { Completed: 'succeeded', Failed: 'failed', BackingUp: 'active' } as const;

const backupWithSlot = z.object({
  metadata: z
    .object({ annotations: z.object({ [scheduledAtAnnotation]: z.string() }) })
    .catch({ annotations: {} } as never),
  status: storedBackupStatus.default({}),
});

function readBackup(raw: unknown): ReturnType<ScheduleDialect['readBackup']> {
  const { metadata, status } = backupWithSlot.parse(raw);
  const slot = Date.parse(metadata.annotations[scheduledAtAnnotation] ?? '');
  const { phase = 'BackingUp', message, conditions } = status;
  return {
    state: stateOfPhase[phase],
    slot: Number.isNaN(slot) ? undefined : slot,
    isBlocked: phase === 'BackingUp' && isBackupBlocked(conditions),
    message,
  };
}

function lastSuccessAt(status: unknown): number | undefined {
  const at = Date.parse(storedScheduleStatus.parse(status ?? {}).lastSuccessfulTime ?? '');
  return Number.isNaN(at) ? undefined : at;
}

export const improbableSchedules: ScheduleDialect = {
  group,
  version,
  plural: 'etcdbackupschedules',
  kind: 'EtcdBackupSchedule',
  oldFinalizer: 'finalizers.etcd.improbable.io/backup-schedule-cancel',
  nameLabel: `${group}/backup-schedule-name`,
  eventSource: 'etcdbackupschedule-reconciler',
  read: readerOf(etcdBackupSchedule, translate),
  readBackup,
  scheduledAtAnnotations: (slot) => ({ [scheduledAtAnnotation]: new Date(slot).toISOString() }),
  lastSuccessAt,
  writeStatus: writeScheduleStatus,
  writeProblems: writeScheduleProblems,
};

const columns: readonly Column[] = [
  { name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' },
  { name: 'Suspend', type: 'boolean', jsonPath: '.spec.suspend' },
  { name: 'Active', type: 'string', jsonPath: '.status.active', description: 'running EtcdBackup' },
  { name: 'Last success', type: 'date', jsonPath: '.status.lastSuccessfulTime' },
  { name: 'Next', type: 'string', jsonPath: '.status.nextScheduleTime' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Zone', type: 'string', jsonPath: '.spec.timeZone', priority: 1 },
  {
    name: 'Last',
    type: 'date',
    jsonPath: '.status.lastScheduleTime',
    description: 'scheduled time of the last backup',
    priority: 1,
  },
];

const scheduleKind: Kind = {
  group,
  version,
  kind: 'EtcdBackupSchedule',
  shortNames: ['ischedule'],
  description: 'EtcdBackupSchedule creates EtcdBackups of an etcd cluster on a schedule.',
  nameRules,
  spec: etcdBackupScheduleSpec,
  status: etcdBackupScheduleStatus,
  columns,
};

export const etcdBackupScheduleSchema = () => schemaOf(scheduleKind);
export const etcdBackupScheduleCrd = () => definitionOf(scheduleKind);
