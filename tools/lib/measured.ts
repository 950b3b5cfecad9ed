import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childrenSeconds } from './cpu.ts';

const root = join(import.meta.dirname, '../..');

/** Without a terminal, colours are off. */
const plain = process.stdout.isTTY ? {} : { NO_COLOR: '1' };

interface Measured {
  readonly code: number;
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  readonly isOverdue: boolean;
}

interface Terms {
  readonly env?: Readonly<Record<string, string>>;
  readonly limitMillis?: number;
  readonly cwd?: string;
  /** True if the output is not printed. */
  readonly isQuiet?: boolean;
}

/** A shell script that runs the program and writes the CPU time of its process tree to a file. */
const measuring = 'trap : TERM; file=$1; shift; "$@"; code=$?; times > "$file"; exit $code';

/** Runs a program and prints its output, unless `isQuiet`. `isOverdue` is true if it was killed at its time limit. */
export async function measured(command: string, args: readonly string[], terms: Terms = {}): Promise<Measured> {
  const directory = await mkdtemp(join(tmpdir(), 'measured-'));
  const times = join(directory, 'times');
  const began = performance.now();
  const output = terms.isQuiet === true ? 'ignore' : 'inherit';
  const child = spawn('sh', ['-c', measuring, 'sh', times, command, ...args], {
    cwd: terms.cwd ?? root,
    stdio: ['ignore', output, output],
    env: { ...process.env, ...plain, ...terms.env },
    detached: true, // its own process group, which can be killed as a whole
  });
  const limit = limited(child, terms.limitMillis);
  const [code] = (await once(child, 'exit')) as [number | null];
  limit.clear();
  const cpuSeconds = childrenSeconds(await readFile(times, 'utf8').catch(() => ''));
  await rm(directory, { recursive: true, force: true });
  return { code: code ?? 255, cpuSeconds, wallSeconds: (performance.now() - began) / 1000, isOverdue: limit.isOver() };
}

/** The time between SIGTERM and SIGKILL. */
const graceMillis = 30_000;

/** Kills a process group at its time limit, or when this process ends. */
function limited(child: ChildProcess, limitMillis?: number): { clear: () => void; isOver: () => boolean } {
  let isOver = false;
  const timers: NodeJS.Timeout[] = [];
  const send = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid ?? 0), signal);
    } catch {
      // the process has ended
    }
  };
  const end = (): void => {
    isOver = true;
    send('SIGTERM');
    timers.push(setTimeout(() => send('SIGKILL'), graceMillis));
  };
  if (limitMillis !== undefined) timers.push(setTimeout(end, limitMillis));
  running.add(send);
  return {
    clear: () => {
      running.delete(send);
      for (const timer of timers) clearTimeout(timer);
    },
    isOver: () => isOver,
  };
}

const running = new Set<(signal: NodeJS.Signals) => void>();

/** Ends every running program that `measured` started. */
export const endAll = (): void => {
  for (const send of running) send('SIGTERM');
};
