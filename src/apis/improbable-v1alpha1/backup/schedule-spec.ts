import { z } from 'zod';
import {
  oneTimeZone,
  schedule,
  startingDeadlineSeconds,
  timeZone,
  validateSchedule,
} from '../../common/schedule-settings.ts';
import { integerFrom } from '../../common/schema/integer-from.ts';
import { withRules } from '../../common/schema/rule.ts';
import { etcdBackupSpec } from './backup-spec.ts';

const fields = withRules(
  z.object({
    schedule,
    timeZone: timeZone.optional(),
    suspend: z.boolean().optional().describe('suspend stops new backups while it is true.'),
    startingDeadlineSeconds: startingDeadlineSeconds.optional(),
    successfulBackupsHistoryLimit: integerFrom(0)
      .optional()
      .describe(
        'successfulBackupsHistoryLimit is the number of successful EtcdBackups to keep. Defaults to 10. Their objects in the store stay.',
      ),
    failedBackupsHistoryLimit: integerFrom(0)
      .optional()
      .describe('failedBackupsHistoryLimit is the number of failed EtcdBackups to keep. Defaults to 10.'),
    backupTemplate: etcdBackupSpec.describe('backupTemplate is the spec of each EtcdBackup.'),
  }),
  oneTimeZone,
);

export const etcdBackupScheduleSpec = fields.superRefine(validateSchedule);
