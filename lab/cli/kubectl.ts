import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../../src/std/failure.ts';
import { findProgram } from '../sandbox/host-programs.ts';
import { type KubectlProvider, kubectlProviders } from './kubectl-providers.ts';

const run = promisify(execFile);

export interface KubectlSources {
  readonly cache: string;
  /** A directory of programs provided by the user (ETCD_OPERATOR_PROGRAMS), with the layout of the cache. */
  readonly extra?: string | undefined;
  readonly print: (line: string) => void;
}

/** A kubectl that is new enough. */
export interface Kubectl {
  readonly version: string;
  readonly directory: string;
  readonly isOnPath: boolean;
}

/** The first minor with exec over WebSockets. The lab does not serve SPDY. */
const oldestMinor = 31;

/** Finds a kubectl on this machine, or has the first provider that can provide one. */
export async function findKubectl(
  sources: KubectlSources,
  providers: readonly KubectlProvider[] = kubectlProviders,
): Promise<Kubectl> {
  return (await availableKubectl(sources)) ?? (await provide(sources, providers));
}

async function provide(sources: KubectlSources, providers: readonly KubectlProvider[]): Promise<Kubectl> {
  const errors: string[] = [];
  for (const provider of providers) {
    const directory = await provider(sources).catch((thrown: unknown) => {
      errors.push(Failure.from(thrown).message);
      return undefined;
    });
    const version = directory === undefined ? '' : await versionOf(join(directory, 'kubectl'));
    if (directory !== undefined && isNewEnough(version)) return { version, directory, isOnPath: false };
    if (directory !== undefined) errors.push(`${directory}/kubectl is older than 1.${oldestMinor}.`);
  }
  throw new Failure(
    'not-found',
    `kubectl 1.${oldestMinor} or newer not found, and cannot be fetched or built. ${errors.join(' ')}`.trim(),
  );
}

async function availableKubectl({ cache, extra }: KubectlSources): Promise<Kubectl | undefined> {
  const onPath = findProgram('kubectl');
  const places = [...programsIn(join(cache, 'programs')), ...(extra === undefined ? [] : programsIn(extra))];
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
