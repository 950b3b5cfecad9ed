import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { searched } from '../../lab/ground/tools.ts';
import { Failure } from '../../std/failure.ts';
import { type KubectlWay, kubectlWays } from './kubectl-ways.ts';

const run = promisify(execFile);

export interface KubectlSources {
  readonly cache: string;
  /** A directory of programs that somebody brings along, laid out as in the cache. */
  readonly brought?: string | undefined;
  readonly say: (line: string) => void;
}

/** A kubectl that is new enough, and whether typing its name is enough. */
export interface Kubectl {
  readonly version: string;
  readonly directory: string;
  readonly isOnPath: boolean;
}

/** The first that runs commands in pods over WebSockets, which is the only way the lab offers. */
const oldestMinor = 31;

/** Finds kubectl, or has it in the first way that leads to one. */
export async function findKubectl(
  sources: KubectlSources,
  ways: readonly KubectlWay[] = kubectlWays,
): Promise<Kubectl> {
  return (await kubectlAtHand(sources)) ?? (await had(sources, ways));
}

async function had(sources: KubectlSources, ways: readonly KubectlWay[]): Promise<Kubectl> {
  const complaints: string[] = [];
  for (const way of ways) {
    const directory = await way(sources).catch((thrown: unknown) => {
      complaints.push(Failure.from(thrown).message);
      return undefined;
    });
    const version = directory === undefined ? '' : await versionOf(join(directory, 'kubectl'));
    if (directory !== undefined && isNewEnough(version)) return { version, directory, isOnPath: false };
    if (directory !== undefined) complaints.push(`${directory}/kubectl is not 1.${oldestMinor} or newer.`);
  }
  throw new Failure('not-found', `kubectl 1.${oldestMinor} or newer could not be had. ${complaints.join(' ')}`.trim());
}

async function kubectlAtHand({ cache, brought }: KubectlSources): Promise<Kubectl | undefined> {
  const onPath = searched('kubectl');
  const places = [...programsIn(join(cache, 'programs')), ...(brought === undefined ? [] : programsIn(brought))];
  const candidates = [
    ...(onPath === undefined ? [] : [join(onPath, '..')]),
    ...places.filter((directory) => existsSync(join(directory, 'kubectl'))),
  ];
  for (const directory of candidates) {
    const version = await versionOf(join(directory, 'kubectl'));
    if (isNewEnough(version)) return { version, directory, isOnPath: onPath === join(directory, 'kubectl') };
  }
  return undefined;
}

const programsIn = (place: string): readonly string[] =>
  existsSync(place) ? readdirSync(place).map((name) => join(place, name)) : [];

async function versionOf(program: string): Promise<string> {
  const { stdout } = await run(program, ['version', '--client']).catch(() => ({ stdout: '' }));
  return /Client Version: v?(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? '';
}

export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 1 || (major === 1 && minor >= oldestMinor);
}
