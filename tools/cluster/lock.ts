import { join } from 'node:path';
import { cacheDirectory } from '../lib/cache.ts';
import { type Lock, lock } from '../lib/lock.ts';
import type { Layout } from './layout.ts';

/** The lock for starting and removing a cluster. */
export const lockCluster = (layout: Layout): Promise<Lock> =>
  lock(join(cacheDirectory(), `cluster-${layout.name}.lock`), (holder) =>
    process.stderr.write(`waiting for process ${holder}, which is changing cluster "${layout.name}"\n`),
  );
