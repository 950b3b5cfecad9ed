import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import type { RestoreTools } from './sources.ts';
import { isMadeBy, ownCluster } from './target.ts';

/** A restore that would make its cluster takes the place of one that is there, where it says so, and makes one where there is none. */
export async function intoWhatThereIs(read: ReadRestore, tools: RestoreTools): Promise<ReadRestore> {
  const { intent } = read;
  if (intent.replaces !== true) return read;
  const named = await ownCluster(intent, tools);
  const isThere = named !== undefined && named.metadata.deletionTimestamp === undefined;
  return isThere && !isMadeBy(named, intent, tools) ? { ...read, intent: { ...intent, into: 'existing' } } : read;
}
