import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../src/std/failure.ts';

/** The Debian package of each host program that the lab needs. */
const packages = {
  unshare: 'util-linux',
  nsenter: 'util-linux',
  ip: 'iproute2',
  script: 'bsdutils',
} as const;

const found = new Map<string, string>();

/** The path of a host program. Searches /usr/sbin and /sbin too, which are often not on an ordinary user's PATH. */
export function programPath(name: keyof typeof packages): string {
  const path = found.get(name) ?? findProgram(name);
  if (path === undefined)
    throw new Failure('rejected', `program "${name}" not found: install Debian package ${packages[name]}`);
  found.set(name, path);
  return path;
}

/** The first executable file with this name on PATH or in a system directory. */
export function findProgram(name: string): string | undefined {
  const directories = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin', '/usr/bin', '/bin'];
  return directories
    .filter((directory) => directory.startsWith('/'))
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
