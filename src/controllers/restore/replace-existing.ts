import type { ReadRestore } from '../../apis/common/restore-dialect.ts';
import type { RestoreContext } from './context.ts';
import { isMadeBy, ownCluster } from './target.ts';

/** A restore with `replaces` restores into an existing EtcdCluster of its name, and creates one if there is none. */
export async function replacingExisting(read: ReadRestore, context: RestoreContext): Promise<ReadRestore> {
  const { intent } = read;
  if (intent.replaces !== true) return read;
  const named = await ownCluster(intent, context);
  const exists = named !== undefined && named.metadata.deletionTimestamp === undefined;
  return exists && !isMadeBy(named, intent, context) ? { ...read, intent: { ...intent, into: 'existing' } } : read;
}
