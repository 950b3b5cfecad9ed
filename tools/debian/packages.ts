import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory, keyOf, makeAtomically } from '../lib/cache.ts';
import { lock } from '../lib/lock.ts';
import { UserError } from '../lib/main.ts';
import { withProgress } from '../lib/progress.ts';
import { attempt, run } from '../lib/run.ts';

/** The Debian packages for nodes of the test cluster, for pushing images, and for the operator's image. */
const packages = [
  ...['containerd', 'runc', 'containernetworking-plugins', 'nftables', 'iproute2', 'mount', 'util-linux'],
  ...['tini', 'busybox', 'dash', 'coreutils', 'skopeo', 'libc6', 'libgcc-s1', 'libstdc++6'],
];

/** The mount points of a machine. They must exist, because the root is read-only. */
const mountPoints = ['proc', 'sys', 'dev', 'run', 'tmp', 'var', 'etc', 'mnt', 'programs'];

/** The library directory of this architecture. */
export const architecture = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';

const loader = process.arch === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2';

/** The dynamic loader: the path in ELF files, and the file it resolves to. */
export const loaderPath = {
  asked: process.arch === 'arm64' ? `/lib/${loader}` : `/lib64/${loader}`,
  resolved: `/lib/${architecture}/${loader}`,
} as const;

/** The directory with the unpacked packages and their dependencies. Nothing is installed on the host. */
export function debianRoot(): string {
  return join(cacheDirectory(), 'debian', keyOf(JSON.stringify([packages, mountPoints]), process.arch, release()));
}

/** Directories of shared libraries in the unpacked root. */
export const libraryDirectories = (): readonly string[] =>
  ['lib', 'usr/lib'].map((directory) => join(debianRoot(), directory, architecture));

/** The command line that runs an unpacked program on the host, with its own loader and libraries. */
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
    makeAtomically(debianRoot(), async (root) => {
      const archives = await download(`${root}.apt`);
      for (const archive of archives) await run('dpkg-deb', ['-x', archive, root]);
      await finish(root);
      await rm(`${root}.apt`, { recursive: true, force: true });
    }),
  );
}

/** Downloads the packages and all their dependencies with apt, in a private directory, without root. */
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

/** Replaces the install scripts of the packages. */
async function finish(root: string): Promise<void> {
  await Promise.all(mountPoints.map((directory) => mkdir(join(root, directory), { recursive: true })));
  await symlink('dash', join(root, 'bin/sh')).catch(() => undefined);
}

async function assertApt(): Promise<void> {
  for (const command of ['apt-get', 'dpkg-deb']) {
    const found = await attempt(command, ['--version']).catch(() => ({ code: 1 }));
    if (found.code === 0) continue;
    throw new UserError(
      `${command} was not found: the test cluster needs Debian or Ubuntu, because it uses their packages of containerd and runc.`,
    );
  }
}

const release = (): string =>
  /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'unknown';
