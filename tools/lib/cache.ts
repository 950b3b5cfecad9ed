import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Where everything lives that is dear to make and holds no work of anybody's: built programs, unpacked packages, images,
 * and the state of test clusters. A real path, because a kubelet that finds its mounts behind a symbolic link loses them.
 */
export function cacheDirectory(): string {
  const base = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const directory = join(base, 'etcd-operator');
  mkdirSync(directory, { recursive: true });
  return realpathSync(directory);
}

/** A short name for "made from exactly these inputs". */
export const keyOf = (...inputs: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const input of inputs) hash.update(input).update('\0');
  return hash.digest('hex').slice(0, 12);
};

/** Makes a directory whole or not at all: a run that is cut off leaves nothing a later run could take for finished. */
export async function makeWhole(target: string, make: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = `${target}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  mkdirSync(dirname(target), { recursive: true });
  mkdirSync(unfinished);
  await make(unfinished);
  await rename(unfinished, target);
}
