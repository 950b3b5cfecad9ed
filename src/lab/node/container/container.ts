import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../std/failure.ts';
import type { Ground } from '../../ground/ground.ts';
import { programPath } from '../../ground/tools.ts';
import type { LogFile } from '../log/log-file.ts';
import { type Ended, Process } from './process.ts';
import { type RootPlan, readyWord, rootScript } from './root.ts';

export interface ContainerPlan {
  /** A directory of this run's own, which is emptied first. */
  readonly directory: string;
  readonly root: Omit<RootPlan, 'directory'>;
  /** The file of the pod's network namespace. */
  readonly network: string;
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly tty: boolean;
  readonly stdin: boolean;
  /** Whether what it reads ends with the first who writes to it. */
  readonly stdinOnce: boolean;
  readonly log: LogFile;
}

/**
 * The first child of this shell is the first process of the container. `unshare` could be its parent too, but does not
 * tell of a child that was killed from one that failed; a shell does, and what it says of that itself is not wanted.
 */
const parent = 'exec 4>&2 2> /dev/null; "$@" 2>&4 4>&-; exit $?';

/** One run of a container: its first process, and what belongs to it. */
export class Container {
  readonly process: Process;
  readonly ended: Promise<Ended>;
  readonly env: Readonly<Record<string, string>>;
  readonly stdinOnce: boolean;
  readonly #directory: string;
  readonly #ground: Ground;
  /** The container's first process, as seen from outside, and from the ground. */
  readonly #pid: number;
  readonly #pidInside: number;

  private constructor(ground: Ground, process: Process, plan: ContainerPlan) {
    this.#directory = plan.directory;
    this.process = process;
    this.ended = process.ended;
    this.env = plan.env;
    this.stdinOnce = plan.stdinOnce;
    this.#ground = ground;
    this.#pid = firstProcess(process, ground);
    this.#pidInside = numbersOf(this.#pid)[numbersOf(ground.pid).length - 1] ?? 0;
  }

  /** Starts it; a container that cannot be set up is a Failure with the reason. */
  static async start(ground: Ground, plan: ContainerPlan): Promise<Container> {
    await rm(plan.directory, { recursive: true, force: true });
    const directory = join(plan.directory, 'root');
    await mkdir(directory, { recursive: true });
    const script = join(plan.directory, 'start.sh');
    await writeFile(script, rootScript({ ...plan.root, directory }));
    const unshare = [
      programPath('unshare'),
      '--mount',
      '--pid',
      '--uts',
      '--ipc',
      '/bin/sh',
      '-c',
      parent,
      'container',
    ];
    const process = new Process({
      words: ground.inside([...unshare, '/bin/sh', script, ...plan.words], plan.network),
      env: { ...plan.env, CONTAINER_PATH: plan.env['PATH'] ?? '' },
      tty: plan.tty,
      stdin: plan.stdin,
    });
    plan.log.take('stdout', process.stdout);
    plan.log.take('stderr', process.stderr);
    if ((await process.firstSign()) === readyWord) return new Container(ground, process, plan);
    await process.ended;
    throw new Failure('rejected', `the container could not be set up: ${plan.log.tail}`);
  }

  /** Signals its first process. That may be gone already. */
  kill(signal: NodeJS.Signals): void {
    try {
      if (this.#pid > 0) process.kill(this.#pid, signal);
      else this.process.abandon();
    } catch {
      // It ended by itself in this moment, which is what was wanted.
    }
  }

  /** Runs something beside the container's own program, with the same view of the world. */
  exec(words: readonly string[], { tty, stdin }: { readonly tty: boolean; readonly stdin: boolean }): Process {
    // By way of the ground: only its root may enter what belongs to it.
    const target = ['--target', String(this.#pidInside), '--user', '--mount', '--pid', '--net', '--uts', '--ipc'];
    const within = [programPath('nsenter'), ...target, '--preserve-credentials', '--root', '--wd', ...words];
    return new Process({ words: this.#ground.inside(within), env: this.env, tty, stdin });
  }

  get root(): string {
    return join(this.#directory, 'root');
  }

  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Of the programs that lead into the container, the first that is in its own namespace of processes. */
function firstProcess(process: Process, ground: Ground): number {
  const levels = numbersOf(ground.pid).length + 1;
  return process.chain().find((pid) => numbersOf(pid).length === levels) ?? 0;
}

/** The numbers of a process in each of the nested namespaces that it is in, from ours inward. */
function numbersOf(pid: number): readonly number[] {
  try {
    const line = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
    return line.split(/\s+/).map(Number);
  } catch {
    return []; // it is gone
  }
}
