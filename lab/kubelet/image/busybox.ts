import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../sandbox/host-programs.ts';
import { debianSuite, unpackDebian } from './debian.ts';

const run = promisify(execFile);

const inProgress = new Map<string, Promise<void>>();

/** The directory with busybox and a link for each applet; copied from this machine or from Debian's package. */
export async function busyboxDirectory(cache: string, print: (line: string) => void): Promise<string> {
  const directory = join(cache, 'busybox');
  if (existsSync(directory)) return directory;
  // Several images may need busybox for the first time at once.
  const made = inProgress.get(directory) ?? busyboxProgram(cache, print).then((program) => make(directory, program));
  inProgress.set(directory, made);
  await made.finally(() => inProgress.delete(directory));
  return directory;
}

async function busyboxProgram(cache: string, print: (line: string) => void): Promise<string> {
  const found = findProgram('busybox');
  if (found !== undefined) return found;
  print('busybox: fetching Debian package busybox-static');
  const directory = join(cache, 'debian/busybox-static');
  const root = await unpackDebian(['busybox-static'], { directory, suite: debianSuite }).catch(
    async () => await unpackDebian(['busybox-static'], { directory }), // Ubuntu does not always have Debian's key
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
  await rename(unfinished, directory).catch(() => undefined); // another process was faster
}
