import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../std/failure.ts';

/** The package of Debian that brings each of the programs the lab itself needs. */
const packages = {
  unshare: 'util-linux',
  nsenter: 'util-linux',
  ip: 'iproute2',
  script: 'bsdutils',
} as const;

const found = new Map<string, string>();

/** Where a program is; ordinary users often lack the directories of the system's own programs on their PATH. */
export function programPath(name: keyof typeof packages): string {
  const known = found.get(name) ?? searched(name);
  if (known === undefined)
    throw new Failure('rejected', `"${name}" was not found: install Debian's package ${packages[name]}`);
  found.set(name, known);
  return known;
}

/** The first executable file of that name on PATH or in one of the system's directories. */
export function searched(name: string): string | undefined {
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
