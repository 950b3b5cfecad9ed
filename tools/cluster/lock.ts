import { join } from 'node:path';
import { cacheDirectory } from '../lib/cache.ts';
import { type Lock, lock } from '../lib/lock.ts';
import type { Layout } from './layout.ts';

/** Whoever brings a cluster up or down does so alone. */
export const aloneWith = (layout: Layout): Promise<Lock> =>
  lock(join(cacheDirectory(), `cluster-${layout.name}.lock`), (holder) =>
    process.stderr.write(`waiting for process ${holder}, which is changing cluster "${layout.name}"\n`),
  );
