import { chmodSync, lstatSync, mkdirSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../src/std/failure.ts';

/** The files of the lab itself. Files of pods keep their modes; the directory above them is closed. */
const labFiles = /^(apiserver|kubeconfig|port|running\.json|service-ports\.json|control\.sock|lab\.log(\.\d+)?)$/;
const sticky = 0o1000;

/**
 * Creates the state directory and closes it to other users. It holds the keys of the lab's API server, with which
 * programs can be run as this user.
 */
export function secureStateDirectory(state: string): void {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  if (isShared(lstatSync(state)))
    throw new Failure(
      'rejected',
      `state directory ${state} is shared with other users: choose a directory of your own with --state`,
    );
  close(state, labFiles);
}

function isShared({ mode, uid }: Stats): boolean {
  const self = process.getuid?.() ?? uid;
  return (mode & sticky) !== 0 || (self !== uid && self !== 0);
}

function close(path: string, only = /./): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return;
  const isDirectory = found.isDirectory();
  chmodSync(path, isDirectory ? 0o700 : 0o600);
  const below = isDirectory ? readdirSync(path).filter((name) => only.test(name)) : [];
  for (const name of below) close(join(path, name));
}
