import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { quoted } from './root.ts';

/** The exit of a process. */
export interface Ended {
  readonly code: number;
  readonly signal: NodeJS.Signals | undefined;
}

/** Signal numbers, for exit codes as a shell computes them. */
const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};

export const endOf = (code: number | null, signal: NodeJS.Signals | null): Ended => ({
  code: code ?? 128 + (signalNumbers[signal ?? ''] ?? 9),
  signal: signal ?? undefined,
});

export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Runs the program in a terminal. */
  readonly tty: boolean;
  readonly stdin: boolean;
}

/** A process in the sandbox. The child of the lab is the outermost of the programs that lead to it. */
export class Process {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;

  constructor({ argv, env, tty, stdin }: Command) {
    const [program, ...args] = tty ? inTerminal(argv) : argv;
    // Detached: Ctrl-C must reach only the lab, which then stops its containers gracefully.
    this.#child = spawn(program, args, {
      env,
      stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
      cwd: '/',
      detached: true,
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('error', () => resolve({ code: 128, signal: undefined }));
      this.#child.once('close', (code, signal) => resolve(endOf(code, signal)));
    });
    this.#child.stdin?.on('error', () => undefined); // a program may end before it has read all input
  }

  get stdin(): Writable | null {
    return this.#child.stdin;
  }

  get stdout(): Readable {
    return this.#child.stdout as Readable;
  }

  get stderr(): Readable {
    return this.#child.stderr as Readable;
  }

  /**
   * The first message on file descriptor 3: a container reports there that it is set up. Empty if the process ended
   * first.
   */
  async firstMessage(): Promise<string> {
    const stream = this.#child.stdio[3] as Readable;
    const message = new Promise<string>((resolve) => {
      stream.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
      stream.once('close', () => resolve(''));
    });
    return await Promise.race([message, this.ended.then(() => '')]);
  }

  /** The PIDs of the chain of programs, from the outermost inward. */
  chain(): readonly number[] {
    const pids = [this.#child.pid ?? 0];
    for (let pid = childOf(pids[0] ?? 0); pid !== undefined; pid = childOf(pid)) pids.push(pid);
    return pids;
  }

  /** Kills the process and all programs that lead to it. */
  abandon(): void {
    for (const pid of this.chain().toReversed()) kill(pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

/** `script` provides a terminal and passes on the exit code. */
function inTerminal(argv: readonly string[]): readonly [string, ...string[]] {
  return ['/usr/bin/script', '--quiet', '--flush', '--return', '--command', argv.map(quoted).join(' '), '/dev/null'];
}

/** The first child of a process, if it has one. */
export function childOf(pid: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return first === undefined || first === '' ? undefined : Number(first);
  } catch {
    return undefined;
  }
}
