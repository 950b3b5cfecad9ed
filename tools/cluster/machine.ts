import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processesWith } from '../lib/processes.ts';
import type { Layout } from './layout.ts';

/**
 * A *machine* of the test cluster is one process tree with process, mount, network, host name and IPC namespaces of its
 * own. Its first process has this environment variable, by which it is found even if all files are lost. When that
 * process is killed, the kernel ends the whole tree with all its mounts, interfaces and rules.
 */
const marker = 'ETCD_OPERATOR_MACHINE';

/** The environment variable that marks a process as part of a cluster, to be killed with it. */
export const clusterEnvironment = (layout: Layout, name: string): Readonly<Record<string, string>> => ({
  [marker]: `${layout.state}/${name}`,
});

/** The `unshare` options for the namespaces of a machine. */
export const namespaces = ['--mount', '--pid', '--fork', '--net', '--uts', '--ipc', '--propagation', 'private'];

export const directoryOf = (layout: Layout, machine: string): string => join(layout.state, machine);

export interface Started {
  /** The host PID of the machine's first process. */
  readonly pid: number;
  /** Lets the machine boot, after its network interfaces are connected. */
  readonly boot: () => void;
}

/** Starts a machine. It boots after its network interfaces are connected. */
export async function startMachine(layout: Layout, name: string): Promise<Started> {
  const directory = directoryOf(layout, name);
  const child = startDetached(layout, name, [
    'unshare',
    ...namespaces,
    '--',
    'sh',
    join(directory, 'etc/machine/boot.sh'),
    directory,
  ]);
  const pid = await firstProcess(layout, name);
  return { pid, boot: () => release(child) };
}

/** Starts the switch between the machines: a network namespace held open by a sleeping process. */
export async function startSwitch(layout: Layout): Promise<number> {
  await mkdir(layout.state, { recursive: true });
  const child = startDetached(layout, 'switch', ['unshare', '--net', '--', 'sleep', 'infinity']);
  release(child);
  while (readFileSync(`/proc/${child.pid}/comm`, 'utf8').trim() !== 'sleep') await sleep(5);
  return child.pid ?? 0;
}

function startDetached(layout: Layout, name: string, [command = '', ...args]: readonly string[]): ChildProcess {
  const log = openSync(join(layout.state, `${name}.log`), 'a');
  const env = { PATH: process.env['PATH'], ...clusterEnvironment(layout, name) };
  const child = spawn(command, args, { detached: true, stdio: ['pipe', log, log], env, cwd: '/' });
  closeSync(log);
  return child;
}

function release(child: ChildProcess): void {
  child.stdin?.end('\n');
  child.unref();
}

async function firstProcess(layout: Layout, name: string): Promise<number> {
  for (let tries = 0; tries < 500; tries++) {
    const pid = runningMachine(layout, name);
    if (pid !== undefined) return pid;
    await sleep(10);
  }
  throw new Error(`machine ${name} did not start: see ${join(layout.state, `${name}.log`)}`);
}

/** The first process of a machine, if it is running. */
export const runningMachine = (layout: Layout, name: string): number | undefined =>
  processesOf(layout, name).find(isFirstProcess);

/** The process that holds the switch open, if it runs. */
export const runningSwitch = (layout: Layout): number | undefined => processesOf(layout, 'switch')[0];

/** Kills all processes of a machine at once, as a power cut does. Its files stay. */
export async function stopMachine(layout: Layout, name: string): Promise<void> {
  await killAll(() => processesOf(layout, name));
}

/** Kills every process of the cluster, found by its environment variable. */
export async function stopAllMachines(layout: Layout): Promise<void> {
  await killAll(() => processesWith(marker, (value) => value.startsWith(`${layout.state}/`)));
}

const processesOf = (layout: Layout, name: string): readonly number[] =>
  processesWith(marker, (value) => value === `${layout.state}/${name}`);

async function killAll(find: () => readonly number[]): Promise<void> {
  for (let pids = find(); pids.length > 0; pids = find()) {
    for (const pid of pids) kill(pid);
    await sleep(20);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // the process has ended meanwhile
  }
}

function isFirstProcess(pid: number): boolean {
  try {
    const ids = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]?.split(/\s+/) ?? [];
    return ids.length > 1 && ids.at(-1) === '1';
  } catch {
    return false;
  }
}
