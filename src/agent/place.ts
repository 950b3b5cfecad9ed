import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentResult, resultOfFailure } from './result.ts';
import type { PlaceFlags } from './settings.ts';

/**
 * Moves the restored data directory to its place, before the member starts. Init containers may run again after a node
 * restart: a data directory that etcd already uses stays, and the newly restored one is deleted.
 */
export async function placeDataDirectory({ staging, to }: PlaceFlags): Promise<AgentResult> {
  const began = performance.now();
  try {
    const exists = existsSync(join(to, 'member'));
    if (!exists) await moveMember(join(staging, 'data'), to);
    await rm(staging, { recursive: true, force: true });
    return { ok: true, seconds: Math.round(performance.now() - began) / 1000, placed: !exists };
  } catch (thrown) {
    return resultOfFailure(thrown);
  }
}

/** Moves only the directory `member`: the target may be the mount point of the volume, which cannot be replaced. */
async function moveMember(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  await rename(join(from, 'member'), join(to, 'member'));
}
