import { randomBytes } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { Failure } from '../../std/failure.ts';
import type { StoreAddress } from '../address.ts';
import { Checksum } from '../checksum.ts';
import type { ByteStream, Explanation, StoreDriver, StoredObject, StoreTrouble } from '../store.ts';

/** Names of temporary files that are being written. They are not listed. */
const unfinished = /^\.[0-9a-f]{16}\.unfinished$/;
/** Older temporary files were left by a writer that was killed. */
const abandonedMillis = 24 * 3600 * 1000;

/** A store on a mounted volume, with one file for each object. */
export async function openVolume(address: StoreAddress, volume: string | undefined): Promise<StoreDriver> {
  if (volume === undefined)
    throw new Failure('rejected', `the mount directory of volume "${address.bucket}" is missing: set --volume`);
  const root = await realpath(volume).catch((error: unknown) => {
    throw new Failure('rejected', `the volume "${address.bucket}" is not mounted at ${volume}`, { cause: error });
  });
  const pathOf = (key: string): string => join(root, key);
  return {
    place: `volume "${address.bucket}"`,
    identity: 'none; a volume is open to the Pod that mounts it',
    put: (key, body, signal) => write(root, pathOf(key), { body, signal }),
    get: async (key, signal) => {
      const path = await resolveInside(root, pathOf(key));
      return { ...objectOf(key, await fileAt(path)), body: createReadStream(path, { signal, highWaterMark: 1 << 20 }) };
    },
    head: async (key) => objectOf(key, await fileAt(await resolveInside(root, pathOf(key)))),
    list: async function* (prefix) {
      for (const key of await keysUnder(root, prefix)) yield objectOf(key, await stat(pathOf(key)));
    },
    delete: async (key) => {
      await rm(await resolveInside(root, pathOf(key)));
    },
    explain,
  };
}

const objectOf = (key: string, { size, mtime }: Stats): StoredObject => ({ key, size, modified: mtime });

class Missing extends Error {
  readonly code = 'ENOENT';
}

async function fileAt(path: string): Promise<Stats> {
  const found = await stat(path);
  if (found.isFile()) return found;
  throw new Missing(`it is a directory, not a file`);
}

/** Resolves symbolic links. A link must not lead out of the volume. */
async function resolveInside(root: string, path: string): Promise<string> {
  const real = await realpath(path);
  if (real.startsWith(root + sep)) return real;
  throw Object.assign(new Error('a symbolic link leads out of the volume'), { code: 'EACCES' });
}

/**
 * Creates directories one by one, so that none is created through a link out of the volume. Nothing is written into a
 * data directory of etcd.
 */
async function createDirectory(root: string, path: string): Promise<string> {
  let directory = root;
  await assertNoDataDirectory(directory);
  for (const part of path.slice(root.length).split(sep).filter(Boolean)) {
    const next = join(directory, part);
    await mkdir(next).catch(ignoreExisting);
    directory = await resolveInside(root, next);
    await assertNoDataDirectory(directory);
  }
  return directory;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function assertNoDataDirectory(directory: string): Promise<void> {
  const found = await stat(join(directory, 'member', 'wal')).catch(undefinedIfMissing);
  if (found !== undefined) throw Object.assign(new Error('it contains a data directory of etcd'), { code: 'EACCES' });
}

/** Undefined if the path is missing. Any other error fails: the path may be a data directory of etcd. */
function undefinedIfMissing({ code, message }: NodeJS.ErrnoException): undefined {
  if (isMissing(code)) return undefined;
  const detail = `cannot check for a data directory of etcd: ${message}; use another directory or volume for backups`;
  throw Object.assign(new Error(detail), { code });
}

/** Writes a temporary file, syncs it, reads it back, and then renames it. */
async function write(
  root: string,
  path: string,
  { body, signal }: { body: ByteStream; signal: AbortSignal },
): Promise<true> {
  const directory = await createDirectory(root, dirname(path));
  await deleteAbandoned(directory);
  const temporary = join(directory, `.${randomBytes(8).toString('hex')}.unfinished`);
  try {
    const sent = new Checksum();
    await writeTo(temporary, sent.of(body), signal);
    await assertContent(temporary, sent, signal);
    signal.throwIfAborted();
    await rename(temporary, join(directory, basename(path)));
    await syncDirectory(directory);
    return true;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeTo(temporary: string, body: ByteStream, signal: AbortSignal): Promise<void> {
  await using file = await open(temporary, 'wx', 0o640);
  for await (const part of body) {
    signal.throwIfAborted();
    await file.writeFile(part);
  }
  await file.sync();
}

async function assertContent(temporary: string, sent: Checksum, signal: AbortSignal): Promise<void> {
  const found = await Checksum.reading(createReadStream(temporary, { signal, highWaterMark: 1 << 20 }));
  if (found.equals(sent)) return;
  const detail = `the volume returns ${found.text}, but ${sent.text} were written`;
  throw Object.assign(new Error(detail), { code: damaged });
}

/** Syncs a directory, so that a new name in it survives a crash. */
async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory);
  await handle.sync();
}

async function deleteAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!unfinished.test(name)) continue;
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > abandonedMillis) await rm(path, { force: true });
  }
}

async function keysUnder(root: string, prefix: string): Promise<readonly string[]> {
  const from = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const entries = await readdir(join(root, from), { recursive: true, withFileTypes: true }).catch(emptyIfMissing);
  return entries
    .filter((entry) => entry.isFile() && !unfinished.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((key) => key.startsWith(prefix))
    .sort();
}

function emptyIfMissing(error: NodeJS.ErrnoException): never[] {
  if (isMissing(error.code)) return [];
  throw error;
}

const isMissing = (code: string | undefined): boolean => code === 'ENOENT' || code === 'ENOTDIR';

function explain(thrown: unknown): Explanation {
  const { code = '', message } = thrown as NodeJS.ErrnoException;
  return { trouble: troubles[code] ?? 'unreachable', detail: message };
}

const damaged = 'DAMAGED';

const troubles: Readonly<Record<string, StoreTrouble>> = {
  [damaged]: 'damaged',
  ENOENT: 'no-object',
  ENOTDIR: 'no-object',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ENOSPC: 'full',
  EDQUOT: 'full',
  EISDIR: 'rejected',
  EEXIST: 'rejected',
};
