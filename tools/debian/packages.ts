import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory, keyOf, makeWhole } from '../lib/cache.ts';
import { lock } from '../lib/lock.ts';
import { Complaint } from '../lib/main.ts';
import { withProgress } from '../lib/progress.ts';
import { attempt, run } from '../lib/run.ts';

/** What a node of the test cluster is made of, what pushes images, and what our own image needs beside Node. */
const packages = [
  ...['containerd', 'runc', 'containernetworking-plugins', 'nftables', 'iproute2', 'mount', 'util-linux'],
  ...['tini', 'busybox', 'dash', 'coreutils', 'skopeo', 'libc6', 'libgcc-s1', 'libstdc++6'],
];

/** Places a machine made from this root mounts something onto; they must exist because the root itself is read-only. */
const mountPoints = ['proc', 'sys', 'dev', 'run', 'tmp', 'var', 'etc', 'mnt', 'programs'];

/** The directory of this machine's libraries. */
export const architecture = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';

const loader = process.arch === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2';

/** The program that loads shared libraries: where programs ask for it, and the file that this name leads to. */
export const loaderPath = {
  asked: process.arch === 'arm64' ? `/lib/${loader}` : `/lib64/${loader}`,
  resolved: `/lib/${architecture}/${loader}`,
} as const;

/** Packages and all they depend on, unpacked side by side into one root; nothing is installed on this machine. */
export function debianRoot(): string {
  return join(cacheDirectory(), 'debian', keyOf(JSON.stringify([packages, mountPoints]), process.arch, release()));
}

/** Directories of shared libraries in the unpacked root. */
export const libraryDirectories = (): readonly string[] =>
  ['lib', 'usr/lib'].map((directory) => join(debianRoot(), directory, architecture));

/** How a program of the unpacked root is started on this machine: by its own loader, with its own libraries. */
export function unpacked(path: string): readonly [string, ...string[]] {
  return [
    join(debianRoot(), loaderPath.resolved),
    '--library-path',
    libraryDirectories().join(':'),
    join(debianRoot(), path),
  ];
}

export async function unpackDebian(): Promise<void> {
  if (existsSync(debianRoot())) return;
  await assertApt();
  using _held = await lock(join(cacheDirectory(), 'debian.lock'), (holder) =>
    process.stderr.write(`waiting for process ${holder}, which is unpacking Debian packages\n`),
  );
  if (existsSync(debianRoot())) return;
  await withProgress("fetching and unpacking Debian's containerd, runc, CNI plugins, nftables, skopeo", () =>
    makeWhole(debianRoot(), async (root) => {
      const archives = await download(`${root}.apt`);
      for (const archive of archives) await run('dpkg-deb', ['-x', archive, root]);
      await finish(root);
      await rm(`${root}.apt`, { recursive: true, force: true });
    }),
  );
}

/** Asks apt for the packages and all they need, as if nothing were installed, in a place of its own: no root needed. */
async function download(place: string): Promise<readonly string[]> {
  const archives = join(place, 'archives');
  await mkdir(join(archives, 'partial'), { recursive: true });
  await mkdir(join(place, 'lists', 'partial'), { recursive: true });
  await writeFile(join(place, 'status'), '');
  const settings = {
    'Dir::State::Lists': join(place, 'lists'),
    'Dir::State::status': join(place, 'status'),
    'Dir::Cache': place,
    'Dir::Cache::Archives': archives,
    'Debug::NoLocking': 'true',
    'APT::Install-Recommends': 'false',
    'APT::Sandbox::User': 'root',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await run('apt-get', [...options, '-qq', 'update']);
  await run('apt-get', [...options, '-qq', '-y', '--download-only', 'install', ...packages]);
  return (await readdir(archives)).filter((file) => file.endsWith('.deb')).map((file) => join(archives, file));
}

/** Does the little that the packages' own scripts would have done. */
async function finish(root: string): Promise<void> {
  await Promise.all(mountPoints.map((directory) => mkdir(join(root, directory), { recursive: true })));
  await symlink('dash', join(root, 'bin/sh')).catch(() => undefined);
}

async function assertApt(): Promise<void> {
  for (const command of ['apt-get', 'dpkg-deb']) {
    const found = await attempt(command, ['--version']).catch(() => ({ code: 1 }));
    if (found.code === 0) continue;
    throw new Complaint(
      `${command} was not found: the test cluster takes containerd and runc from Debian's packages, so it needs Debian or Ubuntu.`,
    );
  }
}

const release = (): string =>
  /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'unknown';
