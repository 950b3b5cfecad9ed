import { z } from 'zod';
import { counted } from '../counted.ts';
import { ruled } from '../rule.ts';
import { judgeTimes, oneZone, schedule, startingDeadlineSeconds, timeZone } from '../schedule-settings.ts';
import { etcdBackupSpec } from './backup-spec.ts';

const fields = ruled(
  z.object({
    schedule,
    timeZone: timeZone.optional(),
    suspend: z.boolean().optional().describe('true: no backup is begun until this is false again.'),
    startingDeadlineSeconds: startingDeadlineSeconds.optional(),
    successfulBackupsHistoryLimit: counted(0)
      .optional()
      .describe('How many EtcdBackups that went well are kept; 10 if left out. What they have stored stays.'),
    failedBackupsHistoryLimit: counted(0)
      .optional()
      .describe('How many EtcdBackups that failed are kept; 10 if left out.'),
    backupTemplate: etcdBackupSpec.describe('The spec of each EtcdBackup.'),
  }),
  oneZone,
);

export const etcdBackupScheduleSpec = fields.superRefine(judgeTimes);

export type EtcdBackupScheduleSpec = z.output<typeof etcdBackupScheduleSpec>;
