import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Dialect } from './dialects.ts';
import type { Kubectl } from './kubectl.ts';
import { ownDirectory } from './own-directory.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the lab keeps everything, unless it is told otherwise. */
export const stateDirectory = (env: Environment): string =>
  resolve(env['XDG_STATE_HOME'] || join(homedir(), '.local/state'), 'etcd-operator/lab');

export const cacheDirectory = (env: Environment): string =>
  join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'etcd-operator');

/** Where Node keeps what it has compiled of our sources. */
export const compiledDirectory = (env: Environment): string => join(cacheDirectory(env), 'lab/compiled');

/** The lab that runs in a state directory. */
export interface Running {
  readonly pid: number;
  /** Tells this process from a later one with the same number. */
  readonly startedAt: string;
  readonly kubeconfig: string;
  readonly nodes: number;
  readonly kubectl?: Kubectl;
  /** How the etcdctl of the first cluster's etcd is called, where there is one. */
  readonly etcdctl?: string;
  /** Whether it began without operator and cluster. */
  readonly empty?: boolean;
  /** What its operator was to serve; the first cluster is of the first. */
  readonly dialects?: readonly Dialect[];
  /** Whether all that it begins with is there. */
  readonly isWelcoming?: boolean;
}

const fileIn = (state: string): string => join(state, 'running.json');

export function remember(state: string, running: Omit<Running, 'pid' | 'startedAt'>): void {
  ownDirectory(state);
  const { pid } = process;
  writeFileSync(fileIn(state), JSON.stringify({ pid, startedAt: startOf(pid), ...running }), { mode: 0o600 });
}

export const forget = (state: string): void => rmSync(fileIn(state), { force: true });

/** The lab that runs there, if one does. One that was killed left its file behind, and counts for nothing. */
export function runningIn(state: string): Running | undefined {
  try {
    const running = JSON.parse(readFileSync(fileIn(state), 'utf8')) as Running;
    return isAlive(running) ? running : undefined;
  } catch {
    return undefined;
  }
}

export const isAlive = ({ pid, startedAt }: Running): boolean => startOf(pid) === startedAt;

/** When a process started, in the kernel's ticks. One that has ended does not count, though nobody may have asked how: a zombie. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return /[ZX]/.test(fields[0] ?? '') ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
