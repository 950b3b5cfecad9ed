import { realpathSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { Failure } from '../src/std/failure.ts';

/** True if a path is in a directory, or is that directory. */
export const isInside = (directory: string, path: string): boolean =>
  path === directory || resolve(path).startsWith(`${resolve(directory)}${sep}`);

/**
 * Joins a path to a directory. Pods run as the user of the lab, so a path that leaves the directory by `..` or a
 * symlink would expose that user's files.
 */
export function pathInside(directory: string, below: string, what: string): string {
  const path = join(directory, below);
  if (isInside(directory, path) && isInside(real(directory), real(path))) return path;
  throw new Failure('rejected', `${what}: "${below}" leads out of the volume`);
}

/** Resolves symlinks. The part of a path that does not exist yet is kept as it is. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = join(path, '..');
    return parent === path ? path : join(real(parent), path.slice(parent.length));
  }
}
