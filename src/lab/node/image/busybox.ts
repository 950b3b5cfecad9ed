import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { searched } from '../../ground/tools.ts';
import { debianSuite, unpackDebian } from './debian.ts';

const run = promisify(execFile);

const making = new Map<string, Promise<void>>();

/** Where busybox and a link for each of its tools are; found on this machine, or taken from Debian's package. */
export async function busyboxDirectory(cache: string, say: (line: string) => void): Promise<string> {
  const directory = join(cache, 'busybox');
  if (existsSync(directory)) return directory;
  // Several images may need it at the same time, and for the first time.
  const made = making.get(directory) ?? busyboxProgram(cache, say).then((program) => make(directory, program));
  making.set(directory, made);
  await made.finally(() => making.delete(directory));
  return directory;
}

async function busyboxProgram(cache: string, say: (line: string) => void): Promise<string> {
  const found = searched('busybox');
  if (found !== undefined) return found;
  say("busybox: fetching Debian's package busybox-static");
  const directory = join(cache, 'debian/busybox-static');
  const root = await unpackDebian(['busybox-static'], { directory, suite: debianSuite }).catch(
    async () => await unpackDebian(['busybox-static'], { directory }), // Ubuntu knows Debian's key only sometimes
  );
  return join(root, existsSync(join(root, 'bin/busybox')) ? 'bin/busybox' : 'usr/bin/busybox');
}

async function make(directory: string, program: string): Promise<void> {
  const unfinished = `${directory}.${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await copyFile(program, join(unfinished, 'busybox'));
  const { stdout } = await run(program, ['--list']);
  const applets = stdout.split('\n').filter((applet) => applet !== '' && applet !== 'busybox');
  for (const applet of applets) await symlink('busybox', join(unfinished, applet));
  await rename(unfinished, directory).catch(() => undefined); // somebody else was quicker
}
