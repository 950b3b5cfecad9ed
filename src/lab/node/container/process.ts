import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { quoted } from './root.ts';

/** How a process ended. */
export interface Ended {
  readonly code: number;
  readonly signal: NodeJS.Signals | undefined;
}

/** The numbers of the signals that processes commonly die of, for exit codes as a shell counts them. */
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
  readonly words: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** A terminal in front of the program. */
  readonly tty: boolean;
  readonly stdin: boolean;
}

/** A process inside the ground, held by the outermost of the programs that lead to it. */
export class Process {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;

  constructor({ words, env, tty, stdin }: Command) {
    const [program, ...args] = tty ? underTerminal(words) : words;
    // In a group of its own: Ctrl-C in front of the lab is for the lab, which then ends its containers as it should.
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
    this.#child.stdin?.on('error', () => undefined); // a program may end before it has read everything
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

  /** The first word on the third stream: a container says there that all is set up. Empty if it ended before. */
  async firstSign(): Promise<string> {
    const stream = this.#child.stdio[3] as Readable;
    const said = new Promise<string>((resolve) => {
      stream.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
      stream.once('close', () => resolve(''));
    });
    return await Promise.race([said, this.ended.then(() => '')]);
  }

  /** The processes from the outermost inward. */
  chain(): readonly number[] {
    const pids = [this.#child.pid ?? 0];
    for (let pid = childOf(pids[0] ?? 0); pid !== undefined; pid = childOf(pid)) pids.push(pid);
    return pids;
  }

  /** Ends it and all programs that lead to it. */
  abandon(): void {
    for (const pid of this.chain().toReversed()) kill(pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in this moment.
  }
}

/** `script` makes a terminal, and passes on how the program ended. */
function underTerminal(words: readonly string[]): readonly [string, ...string[]] {
  return ['/usr/bin/script', '--quiet', '--flush', '--return', '--command', words.map(quoted).join(' '), '/dev/null'];
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
