import { chmodSync, lstatSync, mkdirSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../std/failure.ts';

/** What the lab keeps for itself. What its pods read and write has the modes they ask for; the directory above is closed. */
const ofTheLab = /^(apiserver|kubeconfig|port|running\.json|service-ports\.json|control\.sock|lab\.log(\.\d+)?)$/;
const sticky = 0o1000;

/**
 * Makes the state directory, and closes it to all other users of this machine: it holds keys that open the lab's API server, and
 * with these, programs run as this user. A directory of an earlier version is closed as well.
 */
export function ownDirectory(state: string): void {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  if (isShared(lstatSync(state)))
    throw new Failure('rejected', `${state} belongs to other users too: name a directory of your own with --state`);
  close(state, ofTheLab);
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
