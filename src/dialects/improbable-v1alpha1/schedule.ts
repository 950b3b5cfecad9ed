import { z } from 'zod';
import type { ScheduleIntent } from '../../core/model/schedule.ts';
import { isHeldUp } from '../conditions.ts';
import { type Column, definitionOf, type Kind, schemaOf } from '../definition.ts';
import { metadataWith } from '../metadata.ts';
import { notLonger } from '../names.ts';
import { readerOf } from '../reading.ts';
import type { ReadSchedule, ScheduleDialect } from '../schedule-dialect.ts';
import { timetableIn } from '../schedule-settings.ts';
import { foundBackupStatus } from './backup-status.ts';
import { group, version } from './names.ts';
import { etcdBackupScheduleSpec } from './schedule-spec.ts';
import {
  etcdBackupScheduleStatus,
  foundScheduleStatus,
  writeScheduleProblems,
  writeScheduleStatus,
} from './schedule-status.ts';

/** Its name is the value of a label. */
const names = [notLonger('schedule', 63)];

const etcdBackupSchedule = z.object({
  metadata: metadataWith(names),
  spec: etcdBackupScheduleSpec,
  status: foundScheduleStatus.default({}),
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

/** The original kept them all. */
const usualHistory = 10;

function intentOf({ metadata, spec }: Resource): ScheduleIntent {
  const { name, namespace, uid, creationTimestamp } = metadata;
  const createdAt = Date.parse(creationTimestamp ?? '') || 0;
  const { successfulBackupsHistoryLimit: good = usualHistory, failedBackupsHistoryLimit: bad = usualHistory } = spec;
  return {
    ...{ name, namespace, uid, createdAt, paused: spec.suspend === true },
    timetable: timetableIn(spec, createdAt),
    startingDeadlineSeconds: spec.startingDeadlineSeconds,
    history: { succeeded: good, failed: bad },
  };
}

const slotAnnotation = `${group}/scheduled-for`;

const ends = { Completed: 'succeeded', Failed: 'failed', BackingUp: 'active' } as const;

const marked = z.object({
  metadata: z.object({ annotations: z.object({ [slotAnnotation]: z.string() }) }).catch({ annotations: {} } as never),
  status: foundBackupStatus.default({}),
});

function readBackup(raw: unknown): ReturnType<ScheduleDialect['readBackup']> {
  const { metadata, status } = marked.parse(raw);
  const slot = Date.parse(metadata.annotations[slotAnnotation] ?? '');
  const { phase = 'BackingUp', message, conditions } = status;
  return {
    ...{ state: ends[phase], slot: Number.isNaN(slot) ? undefined : slot },
    ...{ isBlocked: phase === 'BackingUp' && isHeldUp(conditions), message },
  };
}

function lastSuccessAt(status: unknown): number | undefined {
  const at = Date.parse(foundScheduleStatus.parse(status ?? {}).lastSuccessfulTime ?? '');
  return Number.isNaN(at) ? undefined : at;
}

export const improbableSchedules: ScheduleDialect = {
  group,
  version,
  plural: 'etcdbackupschedules',
  kind: 'EtcdBackupSchedule',
  oldFinalizer: 'finalizers.etcd.improbable.io/backup-schedule-cancel',
  nameLabel: `${group}/backup-schedule-name`,
  speaker: 'etcdbackupschedule-reconciler',
  read: readerOf(etcdBackupSchedule, translate),
  readBackup,
  slotMark: (slot) => ({ [slotAnnotation]: new Date(slot).toISOString() }),
  lastSuccessAt,
  writeStatus: writeScheduleStatus,
  writeProblems: writeScheduleProblems,
};

const columns: readonly Column[] = [
  { name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' },
  { name: 'Suspend', type: 'boolean', jsonPath: '.spec.suspend' },
  { name: 'Active', type: 'string', jsonPath: '.status.active', description: 'backup that is being made' },
  { name: 'Last success', type: 'date', jsonPath: '.status.lastSuccessfulTime' },
  { name: 'Next', type: 'string', jsonPath: '.status.nextScheduleTime' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Zone', type: 'string', jsonPath: '.spec.timeZone', priority: 1 },
  { name: 'Last', type: 'date', jsonPath: '.status.lastScheduleTime', description: 'last one begun', priority: 1 },
];

const scheduleKind: Kind = {
  group,
  version,
  kind: 'EtcdBackupSchedule',
  shortNames: ['ischedule'],
  description: 'Backups of an etcd cluster at certain times: an EtcdBackup is created for each.',
  nameRules: names,
  spec: etcdBackupScheduleSpec,
  status: etcdBackupScheduleStatus,
  columns,
};

export const etcdBackupScheduleSchema = () => schemaOf(scheduleKind);
export const etcdBackupScheduleCrd = () => definitionOf(scheduleKind);
