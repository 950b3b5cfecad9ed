import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { searched } from '../../lab/ground/tools.ts';
import { debianSuite, unpackDebian } from '../../lab/node/image/debian.ts';

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

/** Finds kubectl, or takes Debian's without installing it. */
export async function findKubectl(sources: KubectlSources): Promise<Kubectl> {
  return (await kubectlAtHand(sources)) ?? (await fromDebian(sources));
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

async function fromDebian({ cache, say }: KubectlSources): Promise<Kubectl> {
  const directory = join(cache, 'lab/debian/kubectl');
  if (!existsSync(directory)) say("kubectl: fetching Debian's package");
  const root = await unpackDebian(['kubectl'], { directory, suite: debianSuite });
  const programs = join(root, 'usr/bin');
  return { version: await versionOf(join(programs, 'kubectl')), directory: programs, isOnPath: false };
}

async function versionOf(program: string): Promise<string> {
  const { stdout } = await run(program, ['version', '--client']).catch(() => ({ stdout: '' }));
  return /Client Version: v?(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? '';
}

export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 1 || (major === 1 && minor >= oldestMinor);
}
