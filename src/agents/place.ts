import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentResult, resultOfFailure } from './result.ts';
import type { PlaceFlags } from './settings.ts';

/**
 * The last step before a restored member starts. A pod may run its first containers again when its node was away; where
 * etcd has begun to work with a data directory, that one stays, and what was made anew goes.
 */
export async function placed({ staging, to }: PlaceFlags): Promise<AgentResult> {
  const began = performance.now();
  try {
    const isThere = existsSync(join(to, 'member'));
    if (!isThere) await moved(join(staging, 'data'), to);
    await rm(staging, { recursive: true, force: true });
    return { ok: true, seconds: Math.round(performance.now() - began) / 1000, placed: !isThere };
  } catch (thrown) {
    return resultOfFailure(thrown);
  }
}

/** Where it goes may be the volume itself, which cannot be replaced: what etcd has made of the snapshot is in one directory. */
async function moved(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  await rename(join(from, 'member'), join(to, 'member'));
}
