import { randomBytes } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { Failure } from '../../std/failure.ts';
import type { StoreAddress } from '../address.ts';
import { Checksum } from '../checksum.ts';
import type { Body, Explanation, StoreDriver, StoredObject, StoreTrouble } from '../store.ts';

/** So are files named that are being written; nobody is shown them. */
const unfinished = /^\.[0-9a-f]{16}\.unfinished$/;
/** What is older and unfinished was left by a writer that was killed. */
const abandonedMillis = 24 * 3600 * 1000;

/** A mounted volume, a file for each object. */
export async function openVolume(address: StoreAddress, volume: string | undefined): Promise<StoreDriver> {
  if (volume === undefined)
    throw new Failure('rejected', `say where the volume "${address.bucket}" is mounted, with --volume`);
  const root = await realpath(volume).catch((error: unknown) => {
    throw new Failure('rejected', `the volume "${address.bucket}" is not mounted at ${volume}`, { cause: error });
  });
  const pathOf = (key: string): string => join(root, key);
  return {
    place: `volume "${address.bucket}"`,
    identity: 'none; a volume is open to the pod that mounts it',
    put: (key, body, signal) => write(root, pathOf(key), { body, signal }),
    get: async (key, signal) => {
      const path = await inside(root, pathOf(key));
      return { ...objectOf(key, await fileAt(path)), body: createReadStream(path, { signal, highWaterMark: 1 << 20 }) };
    },
    head: async (key) => objectOf(key, await fileAt(await inside(root, pathOf(key)))),
    list: async function* (prefix) {
      for (const key of await keysUnder(root, prefix)) yield objectOf(key, await stat(pathOf(key)));
    },
    delete: async (key) => {
      await rm(await inside(root, pathOf(key)));
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
  throw new Missing(`a directory is there, and no file`);
}

/** Where a path really leads: links in a volume must not lead out of it. */
async function inside(root: string, path: string): Promise<string> {
  const real = await realpath(path);
  if (real.startsWith(root + sep)) return real;
  throw Object.assign(new Error('a link there leads out of the volume'), { code: 'EACCES' });
}

/**
 * Makes directories one by one, so that none is made through a link that leads out of the volume. None is made, and nothing
 * written, in a data directory of etcd: however it came here, it is no place for backups.
 */
async function directoryAt(root: string, path: string): Promise<string> {
  let directory = root;
  await assertNoData(directory);
  for (const part of path.slice(root.length).split(sep).filter(Boolean)) {
    const next = join(directory, part);
    await mkdir(next).catch(unlessThere);
    directory = await inside(root, next);
    await assertNoData(directory);
  }
  return directory;
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function assertNoData(directory: string): Promise<void> {
  const found = await stat(join(directory, 'member', 'wal')).catch(noneIfMissing);
  if (found !== undefined) throw Object.assign(new Error('the data directory of an etcd is there'), { code: 'EACCES' });
}

/** What cannot be looked at may be data of etcd. */
function noneIfMissing({ code, message }: NodeJS.ErrnoException): undefined {
  if (isMissing(code)) return undefined;
  const says = `cannot tell whether the data directory of an etcd is there: ${message}; use another directory or volume for backups`;
  throw Object.assign(new Error(says), { code });
}

/** Writes aside, makes sure that the disk has it, reads it back, and only then gives it its name. */
async function write(root: string, path: string, { body, signal }: { body: Body; signal: AbortSignal }): Promise<true> {
  const directory = await directoryAt(root, dirname(path));
  await clearAbandoned(directory);
  const aside = join(directory, `.${randomBytes(8).toString('hex')}.unfinished`);
  try {
    const sent = new Checksum();
    await fill(aside, sent.of(body), signal);
    await compare(aside, sent, signal);
    signal.throwIfAborted();
    await rename(aside, join(directory, basename(path)));
    await synced(directory);
    return true;
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}

async function fill(aside: string, body: Body, signal: AbortSignal): Promise<void> {
  await using file = await open(aside, 'wx', 0o640);
  for await (const part of body) {
    signal.throwIfAborted();
    await file.writeFile(part);
  }
  await file.sync();
}

async function compare(aside: string, sent: Checksum, signal: AbortSignal): Promise<void> {
  const found = await Checksum.reading(createReadStream(aside, { signal, highWaterMark: 1 << 20 }));
  if (found.equals(sent)) return;
  const says = `the volume returns ${found.text}, and ${sent.text} were written`;
  throw Object.assign(new Error(says), { code: damaged });
}

/** A name is on the disk when its directory is. */
async function synced(directory: string): Promise<void> {
  await using handle = await open(directory);
  await handle.sync();
}

async function clearAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!unfinished.test(name)) continue;
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > abandonedMillis) await rm(path, { force: true });
  }
}

async function keysUnder(root: string, prefix: string): Promise<readonly string[]> {
  const from = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const entries = await readdir(join(root, from), { recursive: true, withFileTypes: true }).catch(nothingIfMissing);
  return entries
    .filter((entry) => entry.isFile() && !unfinished.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((key) => key.startsWith(prefix))
    .sort();
}

function nothingIfMissing(error: NodeJS.ErrnoException): never[] {
  if (isMissing(error.code)) return [];
  throw error;
}

const isMissing = (code: string | undefined): boolean => code === 'ENOENT' || code === 'ENOTDIR';

function explain(thrown: unknown): Explanation {
  const { code = '', message } = thrown as NodeJS.ErrnoException;
  return { trouble: troubles[code] ?? 'unreachable', says: message };
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
