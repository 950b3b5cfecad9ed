import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childrenSeconds } from './cpu.ts';

const root = join(import.meta.dirname, '../..');

/** A log file has no use for colours. */
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
}

/** A shell waits for the program, and writes down what its process tree has cost. */
const measuring = 'trap : TERM; file=$1; shift; "$@"; code=$?; times > "$file"; exit $code';

/** Runs a program with its output shown as it comes. `isOverdue`: it was ended because its time had run out. */
export async function measured(command: string, args: readonly string[], terms: Terms = {}): Promise<Measured> {
  const directory = await mkdtemp(join(tmpdir(), 'measured-'));
  const times = join(directory, 'times');
  const began = performance.now();
  const child = spawn('sh', ['-c', measuring, 'sh', times, command, ...args], {
    cwd: terms.cwd ?? root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...plain, ...terms.env },
    detached: true, // a process group of its own, which can be ended as a whole
  });
  const limit = limited(child, terms.limitMillis);
  const [code] = (await once(child, 'exit')) as [number | null];
  limit.clear();
  const cpuSeconds = childrenSeconds(await readFile(times, 'utf8').catch(() => ''));
  await rm(directory, { recursive: true, force: true });
  return { code: code ?? 255, cpuSeconds, wallSeconds: (performance.now() - began) / 1000, isOverdue: limit.isOver() };
}

/** For how long a program that was told to end may clean up. */
const graceMillis = 30_000;

/** Ends a process group when its time is up, or when this process is told to end. */
function limited(child: ChildProcess, limitMillis?: number): { clear: () => void; isOver: () => boolean } {
  let isOver = false;
  const timers: NodeJS.Timeout[] = [];
  const tell = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid ?? 0), signal);
    } catch {
      // it has ended
    }
  };
  const end = (): void => {
    isOver = true;
    tell('SIGTERM');
    timers.push(setTimeout(() => tell('SIGKILL'), graceMillis));
  };
  if (limitMillis !== undefined) timers.push(setTimeout(end, limitMillis));
  running.add(tell);
  return {
    clear: () => {
      running.delete(tell);
      for (const timer of timers) clearTimeout(timer);
    },
    isOver: () => isOver,
  };
}

const running = new Set<(signal: NodeJS.Signals) => void>();

/** Ends every program that `measured` has started and that still runs. */
export const endAll = (): void => {
  for (const tell of running) tell('SIGTERM');
};
