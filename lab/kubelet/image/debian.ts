import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../../../src/std/failure.ts';

const run = promisify(execFile);

/** The Debian release with a recent etcd and kubectl. Its packages run on older releases too. */
export const debianSuite = 'forky';

export interface UnpackOptions {
  readonly directory: string;
  /** Another Debian release than this machine's own. */
  readonly suite?: string;
}

/** Downloads packages and unpacks them into a directory. Installs nothing and needs no root. */
export async function unpackDebian(packages: readonly string[], options: UnpackOptions): Promise<string> {
  const { directory } = options;
  if (existsSync(directory)) return directory;
  const work = `${directory}.${process.pid}`;
  try {
    await mkdir(join(work, 'root'), { recursive: true });
    for (const archive of await download(packages, { ...options, directory: work }))
      await run('dpkg-deb', ['-x', archive, join(work, 'root')]);
    await rename(join(work, 'root'), directory);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Failure('unreachable', `cannot fetch Debian packages ${packages.join(', ')}: ${message.trim()}`, {
      cause: error,
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return directory;
}

async function download(packages: readonly string[], { directory, suite }: UnpackOptions): Promise<readonly string[]> {
  const archives = join(directory, 'archives');
  await mkdir(join(archives, 'partial'), { recursive: true });
  // All downloads from one release share its package lists; apt fetches only changed ones.
  const shared = join(dirname(directory), `.lists-${suite ?? 'own'}`);
  const settings = { ...(await settingsFor(shared, suite)), 'Dir::Cache::Archives': archives };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await updated(shared, options);
  await run('apt-get', [...options, '-qq', 'download', ...packages], { cwd: archives });
  return (await readdir(archives)).filter((file) => file.endsWith('.deb')).map((file) => join(archives, file));
}

const updates = new Map<string, Promise<unknown>>();

/** Updates the package lists once for all concurrent downloads. */
async function updated(shared: string, options: readonly string[]): Promise<void> {
  const update = updates.get(shared) ?? run('apt-get', [...options, '-qq', 'update']);
  updates.set(shared, update);
  update.catch(() => updates.delete(shared));
  await update;
}

async function settingsFor(shared: string, suite: string | undefined): Promise<Record<string, string>> {
  await mkdir(join(shared, 'lists/partial'), { recursive: true });
  const status = join(shared, 'status');
  await writeFile(status, ''); // locally installed packages must not influence the download
  return {
    'Dir::State::Lists': join(shared, 'lists'),
    'Dir::State::Status': status,
    'Dir::Cache': shared,
    'Debug::NoLocking': 'true',
    'APT::Sandbox::User': 'root', // root in a container often cannot switch to user _apt
    'Acquire::Languages': 'none',
    'Acquire::PDiffs': 'false',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    ...(suite === undefined ? {} : await sourcesOf(shared, suite)),
  };
}

/** This machine's mirror, with another release. */
async function sourcesOf(directory: string, suite: string): Promise<Record<string, string>> {
  const list = join(directory, 'sources.list');
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  await writeFile(list, `deb [signed-by=${keyring}] ${mirror()} ${suite} main\n`);
  return { 'Dir::Etc::SourceList': list, 'Dir::Etc::SourceParts': '/dev/null' };
}

function mirror(): string {
  const texts = ['/etc/apt/sources.list', '/etc/apt/sources.list.d/debian.sources']
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'));
  const found = texts.map((text) => /^(?:deb\s+(?:\[[^\]]*\]\s+)?|URIs:\s*)(\S+\/debian\/?)(?:\s|$)/m.exec(text)?.[1]);
  const address = found.find((each) => each !== undefined);
  if (address !== undefined) return address;
  throw new Failure('rejected', 'apt on this machine has no Debian mirror to fetch packages from');
}
