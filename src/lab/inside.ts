import { realpathSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { Failure } from '../std/failure.ts';

/** True if a path is in a directory, or is that directory. */
export const isInside = (directory: string, path: string): boolean =>
  path === directory || resolve(path).startsWith(`${resolve(directory)}${sep}`);

/**
 * A path below a directory. Pods run as the user of the lab: a path that leads out of the directory, by `..` or by a link,
 * would open that user's files to them.
 */
export function pathInside(directory: string, below: string, what: string): string {
  const path = join(directory, below);
  if (isInside(directory, path) && isInside(real(directory), real(path))) return path;
  throw new Failure('rejected', `${what}: "${below}" leads out of the volume`);
}

/** Where a path leads when links are followed; what is not there yet leads nowhere else. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = join(path, '..');
    return parent === path ? path : join(real(parent), path.slice(parent.length));
  }
}
