import { z } from 'zod';
import type { AgentProgress } from '../../../core/backup/agent.ts';
import { text } from '../schema/rule.ts';

/** The progress of a backup, in the status of both APIs. */
export const progress = z
  .object({
    phase: text(64).describe('phase is the work of the pod: saving, or verifying the saved snapshot.'),
    bytes: z.int().describe('bytes is the size of the snapshot data read from etcd so far.'),
    totalBytes: z.int().optional().describe('totalBytes is the size of the database when the backup started.'),
    bytesPerSecond: z.int().describe('bytesPerSecond is the average speed.'),
  })
  .describe('progress is the progress of the running backup.');

/** The progress of a restore, in the status of both APIs. */
export const restoreProgress = z
  .object({
    phase: text(64).describe('phase is the work of the pod: fetching the backup.'),
    bytes: z.int().describe('bytes is the size of the data read from the store so far.'),
    totalBytes: z.int().optional().describe('totalBytes is the size of the backup in the store.'),
    bytesPerSecond: z.int().describe('bytesPerSecond is the average speed.'),
  })
  .describe('progress is how much of the backup has been read. It is updated with each tenth.');

const tenths = 10;
/** The assumed size of an object, if the store does not report it. */
const assumedTotal = tenths * 1024 ** 3;

const stepOf = ({ bytes, totalBytes }: AgentProgress): number =>
  Math.floor((bytes / (totalBytes || assumedTotal)) * tenths);

/** The progress to publish: it changes in tenths only, because each change is a write of the status. */
export function reportedProgress(
  now: AgentProgress | undefined,
  before: AgentProgress | undefined,
): { readonly progress?: AgentProgress } {
  if (now === undefined) return {};
  const isSame = before !== undefined && before.phase === now.phase && stepOf(before) === stepOf(now);
  return { progress: isSame ? before : now };
}
