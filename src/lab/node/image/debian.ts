import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../../../std/failure.ts';

const run = promisify(execFile);

/** The release whose etcd and kubectl are new enough, and run on older ones too. */
export const debianSuite = 'forky';

export interface UnpackOptions {
  readonly directory: string;
  /** Another release of Debian than this machine's own. */
  readonly suite?: string;
}

/** Fetches packages and unpacks them side by side, in a place of our own: nothing is installed, and no root is needed. */
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
    const says = error instanceof Error ? error.message : String(error);
    throw new Failure('unreachable', `Debian's ${packages.join(', ')} could not be had: ${says.trim()}`, {
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
  // The lists are shared by all that is fetched from one release, and only what has changed of them is fetched again.
  const shared = join(dirname(directory), `.lists-${suite ?? 'own'}`);
  const settings = { ...(await settingsFor(shared, suite)), 'Dir::Cache::Archives': archives };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await updated(shared, options);
  await run('apt-get', [...options, '-qq', 'download', ...packages], { cwd: archives });
  return (await readdir(archives)).filter((file) => file.endsWith('.deb')).map((file) => join(archives, file));
}

const updates = new Map<string, Promise<unknown>>();

/** Fetches the lists once, for all who ask at the same time. */
async function updated(shared: string, options: readonly string[]): Promise<void> {
  const update = updates.get(shared) ?? run('apt-get', [...options, '-qq', 'update']);
  updates.set(shared, update);
  update.catch(() => updates.delete(shared));
  await update;
}

async function settingsFor(shared: string, suite: string | undefined): Promise<Record<string, string>> {
  await mkdir(join(shared, 'lists/partial'), { recursive: true });
  const status = join(shared, 'status');
  await writeFile(status, ''); // what is installed here has no say in what is fetched
  return {
    'Dir::State::Lists': join(shared, 'lists'),
    'Dir::State::Status': status,
    'Dir::Cache': shared,
    'Debug::NoLocking': 'true',
    'APT::Sandbox::User': 'root', // whoever is root only in a container can become nobody else
    'Acquire::Languages': 'none',
    'Acquire::PDiffs': 'false',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    ...(suite === undefined ? {} : await sourcesOf(shared, suite)),
  };
}

/** The machine's own mirror, asked for another release. */
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
  throw new Failure('rejected', 'apt on this machine knows no mirror of Debian from which packages could be had');
}
