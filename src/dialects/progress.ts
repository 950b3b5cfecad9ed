import { z } from 'zod';
import type { AgentProgress } from '../core/model/agent.ts';
import { text } from './rule.ts';

/** How far a backup is, in the status of either API. */
export const progress = z
  .object({
    phase: text(64).describe('What its pod does: saving, or verifying what was saved.'),
    bytes: z.int().describe('How much of the snapshot has been read from etcd.'),
    totalBytes: z.int().optional().describe('How large the database was when it began.'),
    bytesPerSecond: z.int().describe('How fast, on average.'),
  })
  .describe('How far the backup is that is being made.');

/** How far a restore is, in the status of either API. */
export const readProgress = z
  .object({
    phase: text(64).describe('What is done with the backup: it is fetched.'),
    bytes: z.int().describe('How much of it has been read from the store.'),
    totalBytes: z.int().optional().describe('How large it is there.'),
    bytesPerSecond: z.int().describe('How fast, on average.'),
  })
  .describe('How much of the backup has been read, told again with each tenth of it.');

const tenths = 10;
/** A store that does not say how large an object is: then with each so many bytes. */
const usualTotal = tenths * 1024 ** 3;

const stepOf = ({ bytes, totalBytes }: AgentProgress): number =>
  Math.floor((bytes / (totalBytes || usualTotal)) * tenths);

/** What is told of it: restores are looked at so often that every byte would be a write. */
export function toldProgress(
  now: AgentProgress | undefined,
  before: AgentProgress | undefined,
): { readonly progress?: AgentProgress } {
  if (now === undefined) return {};
  const isSame = before !== undefined && before.phase === now.phase && stepOf(before) === stepOf(now);
  return { progress: isSame ? before : now };
}
