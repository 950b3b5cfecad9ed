import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../../../std/failure.ts';
import { searched } from '../../ground/tools.ts';
import { debianSuite, unpackDebian } from './debian.ts';

const run = promisify(execFile);

/** The programs of one etcd version, and where they came from, in words. */
export interface EtcdPrograms {
  readonly version: string;
  readonly directory: string;
  readonly from: string;
}

/** A way to make programs of a version that is not at hand, such as building them; `undefined` where it cannot. */
export type MakePrograms = (version: string) => Promise<EtcdPrograms | undefined>;

export interface EtcdSources {
  readonly cache: string;
  /** A directory of programs that somebody brings along, laid out as in the cache. */
  readonly brought?: string | undefined;
  readonly say: (line: string) => void;
  /** Tried in this order when nothing is at hand, after Debian's packages. */
  readonly make: readonly MakePrograms[];
  /** How Debian's packages are had. */
  readonly unpack?: typeof unpackDebian;
}

/** What Debian has, as far as is known: no root is needed to unpack it. What was unpacked is asked for its version. */
const debianVersion = '3.5.30';

/** The newest whose module files we have, so that it can be built where nothing but Go's own sources can be reached. */
export const builtVersion = '3.7.3';

/** The etcd of that version; for `any`, the newest at hand. */
export async function findEtcd(version: string, sources: EtcdSources): Promise<EtcdPrograms> {
  const atHand = await etcdAtHand(sources);
  const found = version === 'any' ? newestOf(atHand) : atHand.find((each) => each.version === version);
  return found ?? (await made(version, sources, atHand));
}

/** The etcd of an image without a tag: its etcdctl should still know `cluster-health`, which 3.4 dropped from the default. */
export async function findUntagged(sources: EtcdSources): Promise<EtcdPrograms> {
  const old = newestOf((await etcdAtHand(sources)).filter(({ version }) => /^3\.[0-3]\./.test(version)));
  return old ?? (await findEtcd('any', sources));
}

const newestOf = (programs: readonly EtcdPrograms[]): EtcdPrograms | undefined =>
  programs.toSorted((a, b) => newestFirst(a, b))[0];

/** How somebody at this machine calls etcdctl: by its name where a shell finds one, else by where it is. */
export function etcdctlOf({ directory }: EtcdPrograms): string | undefined {
  if (searched('etcdctl') !== undefined) return 'etcdctl';
  const program = join(directory, 'etcdctl');
  return existsSync(program) ? program : undefined;
}

/** All that is on this machine already, in the order in which it is preferred. */
export async function etcdAtHand({ cache, brought }: EtcdSources): Promise<readonly EtcdPrograms[]> {
  return [
    ...(await onPath()),
    ...inDirectory(join(cache, 'programs'), 'the cache'),
    ...inDirectory(join(cache, 'lab/debian'), "Debian's packages in the cache"),
    ...(brought === undefined ? [] : inDirectory(brought, brought)),
  ];
}

async function made(version: string, sources: EtcdSources, atHand: readonly EtcdPrograms[]): Promise<EtcdPrograms> {
  const complaints: string[] = [];
  const ways = [fromDebian(sources), ...sources.make];
  const wanted = version === 'any' ? [debianVersion, builtVersion] : [version];
  for (const [one, make] of wanted.flatMap((each) => ways.map((way) => [each, way] as const))) {
    const programs = await make(one).catch((error: unknown) => {
      complaints.push(error instanceof Error ? error.message : String(error));
      return undefined;
    });
    if (programs !== undefined && (version === 'any' || programs.version === version)) return programs;
  }
  const known = atHand.map((each) => each.version).join(', ') || 'none';
  throw new Failure(
    'not-found',
    `etcd ${version} is not on this machine (at hand: ${known}) and could not be had. ${complaints.join(' ')}`.trim(),
  );
}

const newestFirst = (a: EtcdPrograms, b: EtcdPrograms): number =>
  b.version.localeCompare(a.version, 'en', { numeric: true });

async function onPath(): Promise<readonly EtcdPrograms[]> {
  const program = searched('etcd');
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
  ({ cache, say, unpack = unpackDebian }: EtcdSources): MakePrograms =>
  async (version) => {
    if (version !== debianVersion) return undefined;
    say(`etcd ${version}: fetching Debian's packages etcd-server and etcd-client`);
    const place = join(cache, 'lab/debian');
    const fetched = await unpack(['etcd-server', 'etcd-client'], {
      directory: join(place, `etcd-fetched-${process.pid}`),
      suite: debianSuite,
    });
    const is = await versionOf(join(fetched, 'usr/bin/etcd'));
    if (is === undefined) await rm(fetched, { recursive: true, force: true });
    if (is === undefined) throw new Failure('rejected', "Debian's etcd does not run on this machine.");
    const directory = join(place, `etcd-${is}`);
    await rm(directory, { recursive: true, force: true });
    await rename(fetched, directory);
    return { version: is, directory: join(directory, 'usr/bin'), from: "Debian's packages" };
  };
