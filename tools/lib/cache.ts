import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * The directory of everything that is expensive to build and safe to delete: built programs, unpacked packages, images,
 * and the state of test clusters. A real path: a kubelet loses mounts behind a symbolic link.
 */
export function cacheDirectory(): string {
  const base = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const directory = join(base, 'etcd-operator');
  mkdirSync(directory, { recursive: true });
  return realpathSync(directory);
}

/** A short hash of the inputs. */
export const keyOf = (...inputs: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const input of inputs) hash.update(input).update('\0');
  return hash.digest('hex').slice(0, 12);
};

/**
 * Creates a directory atomically: an interrupted run leaves no incomplete directory at `target`. A directory that
 * another process has put there meanwhile is kept.
 */
export async function makeAtomically(target: string, make: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = `${target}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  mkdirSync(dirname(target), { recursive: true });
  mkdirSync(unfinished);
  await make(unfinished);
  await rename(unfinished, target).catch(async (error: unknown) => {
    if (!existsSync(target)) throw error;
    await rm(unfinished, { recursive: true });
  });
}
