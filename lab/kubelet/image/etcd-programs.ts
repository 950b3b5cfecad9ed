import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../../../src/std/failure.ts';
import { findProgram } from '../../sandbox/host-programs.ts';
import { debianSuite, unpackDebian } from './debian.ts';

const run = promisify(execFile);

/** The programs of one etcd version. `from` is their origin, for messages. */
export interface EtcdPrograms {
  readonly version: string;
  readonly directory: string;
  readonly from: string;
}

/** Obtains the programs of a version, for example by building them; `undefined` if it cannot. */
export type MakePrograms = (version: string) => Promise<EtcdPrograms | undefined>;

export interface EtcdSources {
  readonly cache: string;
  /** A directory of programs provided by the user (ETCD_OPERATOR_PROGRAMS), with the layout of the cache. */
  readonly extra?: string | undefined;
  readonly print: (line: string) => void;
  /** Tried in this order after Debian's packages, if the version is not available. */
  readonly make: readonly MakePrograms[];
  /** How Debian packages are fetched. */
  readonly unpack?: typeof unpackDebian;
}

/** The version expected in Debian. The unpacked program is asked for its real version. */
const debianVersion = '3.5.30';

/** The newest version that we have module files for, so that Go can build it. */
export const builtVersion = '3.7.3';

/** The programs of an etcd version; for `any`, of the newest available. */
export async function findEtcd(version: string, sources: EtcdSources): Promise<EtcdPrograms> {
  const available = await availableEtcd(sources);
  const found = version === 'any' ? newestOf(available) : available.find((each) => each.version === version);
  return found ?? (await obtain(version, sources, available));
}

/** The programs of an image without a tag: the newest before 3.4, which dropped etcdctl's `cluster-health`. */
export async function findUntagged(sources: EtcdSources): Promise<EtcdPrograms> {
  const old = newestOf((await availableEtcd(sources)).filter(({ version }) => /^3\.[0-3]\./.test(version)));
  return old ?? (await findEtcd('any', sources));
}

const newestOf = (programs: readonly EtcdPrograms[]): EtcdPrograms | undefined =>
  programs.toSorted((a, b) => newestFirst(a, b))[0];

/** How a shell on this machine runs etcdctl: by its name if it is on PATH, else by its path. */
export function etcdctlOf({ directory }: EtcdPrograms): string | undefined {
  if (findProgram('etcdctl') !== undefined) return 'etcdctl';
  const program = join(directory, 'etcdctl');
  return existsSync(program) ? program : undefined;
}

/** All etcd programs on this machine, in order of preference. */
export async function availableEtcd({ cache, extra }: EtcdSources): Promise<readonly EtcdPrograms[]> {
  return [
    ...(await onPath()),
    ...inDirectory(join(cache, 'programs'), 'the cache'),
    ...inDirectory(join(cache, 'lab/debian'), "Debian's packages in the cache"),
    ...(extra === undefined ? [] : inDirectory(extra, extra)),
  ];
}

async function obtain(
  version: string,
  sources: EtcdSources,
  available: readonly EtcdPrograms[],
): Promise<EtcdPrograms> {
  const errors: string[] = [];
  const sourcesInOrder = [fromDebian(sources), ...sources.make];
  const wanted = version === 'any' ? [debianVersion, builtVersion] : [version];
  for (const [one, make] of wanted.flatMap((each) => sourcesInOrder.map((source) => [each, source] as const))) {
    const programs = await make(one).catch((error: unknown) => {
      errors.push(error instanceof Error ? error.message : String(error));
      return undefined;
    });
    if (programs !== undefined && (version === 'any' || programs.version === version)) return programs;
  }
  const known = available.map((each) => each.version).join(', ') || 'none';
  throw new Failure(
    'not-found',
    `etcd ${version} is not on this machine (available: ${known}), and cannot be fetched or built. ${errors.join(' ')}`.trim(),
  );
}

const newestFirst = (a: EtcdPrograms, b: EtcdPrograms): number =>
  b.version.localeCompare(a.version, 'en', { numeric: true });

async function onPath(): Promise<readonly EtcdPrograms[]> {
  const program = findProgram('etcd');
  if (program === undefined) return [];
  const version = await versionOf(program);
  return version === undefined ? [] : [{ version, directory: dirname(program), from: 'PATH' }];
}

async function versionOf(program: string): Promise<string | undefined> {
  const { stdout } = await run(program, ['--version']).catch(() => ({ stdout: '' }));
  return /etcd Version: (\S+)/.exec(stdout)?.[1];
}

function inDirectory(place: string, from: string): readonly EtcdPrograms[] {
  if (!existsSync(place)) return [];
  return readdirSync(place).flatMap((name) => {
    const version = /^etcd-(\d+\.\d+\.\d+)(?:-[0-9a-z]+)?$/.exec(name)?.[1];
    const directory = [join(place, name), join(place, name, 'usr/bin')].find((each) => existsSync(join(each, 'etcd')));
    return version === undefined || directory === undefined ? [] : [{ version, directory, from }];
  });
}

const fromDebian =
  ({ cache, print, unpack = unpackDebian }: EtcdSources): MakePrograms =>
  async (version) => {
    if (version !== debianVersion) return undefined;
    print(`etcd ${version}: fetching Debian packages etcd-server and etcd-client`);
    const place = join(cache, 'lab/debian');
    const unpacked = await unpack(['etcd-server', 'etcd-client'], {
      directory: join(place, `etcd-fetched-${process.pid}`),
      suite: debianSuite,
    });
    const actual = await versionOf(join(unpacked, 'usr/bin/etcd'));
    if (actual === undefined) await rm(unpacked, { recursive: true, force: true });
    if (actual === undefined) throw new Failure('rejected', "Debian's etcd does not run on this machine.");
    const directory = join(place, `etcd-${actual}`);
    await rm(directory, { recursive: true, force: true });
    await rename(unpacked, directory);
    return { version: actual, directory: join(directory, 'usr/bin'), from: "Debian's packages" };
  };
