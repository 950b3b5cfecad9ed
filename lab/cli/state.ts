import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Dialect } from './dialects.ts';
import type { Kubectl } from './kubectl.ts';
import { secureStateDirectory } from './state-directory.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The default state directory. */
export const stateDirectory = (env: Environment): string =>
  resolve(env['XDG_STATE_HOME'] || join(homedir(), '.local/state'), 'etcd-operator/lab');

export const cacheDirectory = (env: Environment): string =>
  join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'etcd-operator');

/** The directory of Node's compile cache. */
export const compiledDirectory = (env: Environment): string => join(cacheDirectory(env), 'lab/compiled');

/** A running lab, as its state directory describes it. */
export interface Running {
  readonly pid: number;
  /** The start time of the process, which distinguishes it from a later one with the same PID. */
  readonly startedAt: string;
  readonly kubeconfig: string;
  readonly nodes: number;
  readonly kubectl?: Kubectl;
  /** How a shell runs the first cluster's etcdctl, if there is one. */
  readonly etcdctl?: string;
  /** True if the lab started without operator and cluster. */
  readonly empty?: boolean;
  /** The dialects of the operator; the first cluster uses the first. */
  readonly dialects?: readonly Dialect[];
  /** True once the first cluster and all programs are ready. */
  readonly isReady?: boolean;
}

const fileIn = (state: string): string => join(state, 'running.json');

export function writeRunning(state: string, running: Omit<Running, 'pid' | 'startedAt'>): void {
  secureStateDirectory(state);
  const { pid } = process;
  writeFileSync(fileIn(state), JSON.stringify({ pid, startedAt: startTimeOf(pid), ...running }), { mode: 0o600 });
}

export const removeRunning = (state: string): void => rmSync(fileIn(state), { force: true });

/** The lab that runs in a state directory. The file of a killed lab is ignored. */
export function runningIn(state: string): Running | undefined {
  try {
    const running = JSON.parse(readFileSync(fileIn(state), 'utf8')) as Running;
    return isAlive(running) ? running : undefined;
  } catch {
    return undefined;
  }
}

export const isAlive = ({ pid, startedAt }: Running): boolean => startTimeOf(pid) === startedAt;

/** The start time of a process in kernel ticks; `undefined` for a zombie or a process that does not exist. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return /[ZX]/.test(fields[0] ?? '') ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
