import { expect, it } from 'vitest';
import type { BackupIntent } from './model.ts';
import { backupStatusOf } from './status.ts';

it('a refused pod of a run blocks the backup, as an obstacle before the run does', () => {
  const intent = {} as BackupIntent;
  const message = 'exceeded quota';
  const blocked = { isProgressing: true, reason: 'BackupBlocked', message, obstacle: message };
  expect(backupStatusOf({ is: 'start', slot: 1 }, intent, message)).toEqual(blocked);
  expect(backupStatusOf({ is: 'wait', for: 'obstacle', message }, intent)).toEqual(blocked);
  expect(backupStatusOf({ is: 'start', slot: 1 }, intent)).toMatchObject({ isUnderWay: true, reason: 'Saving' });
});
