import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathInside } from '../../path-inside.ts';

/** A file that the kubelet writes into a volume: from a Secret, a ConfigMap or the downward API. */
export interface PayloadFile {
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

/**
 * Replaces all files of a volume atomically: writes the new files beside the old ones, then moves the `..data` symlink.
 * Does nothing if the files are equal.
 */
export async function writePayload(directory: string, files: readonly PayloadFile[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  if (await isSame(directory, files)) return;
  const old = await readlink(join(directory, '..data')).catch(() => undefined);
  const fresh = `..${Date.now()}-${randomBytes(4).toString('hex')}`; // unique within a millisecond
  for (const { path, content, mode } of files) {
    const target = pathInside(join(directory, fresh), path, 'file of a volume');
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
    await chmod(target, mode);
  }
  await mkdir(join(directory, fresh), { recursive: true });
  await rm(join(directory, '..data.new'), { force: true }); // left by a lab that was killed here
  await symlink(fresh, join(directory, '..data.new'));
  await rename(join(directory, '..data.new'), join(directory, '..data'));
  await linkNames(directory, files);
  if (old !== undefined) await rm(join(directory, old), { recursive: true, force: true });
}

async function linkNames(directory: string, files: readonly PayloadFile[]): Promise<void> {
  const wanted = new Set(files.map(({ path }) => path.split('/')[0] ?? ''));
  const present = (await readdir(directory)).filter((name) => !name.startsWith('..'));
  for (const name of present) if (!wanted.has(name)) await rm(join(directory, name), { force: true });
  for (const name of wanted) if (!present.includes(name)) await symlink(join('..data', name), join(directory, name));
}

async function isSame(directory: string, files: readonly PayloadFile[]): Promise<boolean> {
  const present = await readdir(join(directory, '..data'), { recursive: true, withFileTypes: true }).catch(
    () => undefined,
  );
  if (present === undefined || present.filter((entry) => entry.isFile()).length !== files.length) return false;
  for (const { path, content } of files) {
    const now = await readFile(join(directory, '..data', path)).catch(() => undefined);
    if (now === undefined || !now.equals(content)) return false;
  }
  return true;
}
