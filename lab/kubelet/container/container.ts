import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../src/std/failure.ts';
import { programPath } from '../../sandbox/host-programs.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { LogFile } from '../log/log-file.ts';
import { type Ended, Process } from './process.ts';
import { type RootPlan, readyMessage, rootScript } from './root.ts';

export interface ContainerPlan {
  /** The directory of this run. It is emptied first. */
  readonly directory: string;
  readonly root: Omit<RootPlan, 'directory'>;
  /** The file of the pod's network namespace. */
  readonly network: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly tty: boolean;
  readonly stdin: boolean;
  /** Closes stdin when the first attached client leaves. */
  readonly stdinOnce: boolean;
  readonly log: LogFile;
}

/**
 * The shell that is the parent of the container's first process. `unshare` cannot report a child killed by a signal, a
 * shell can. The shell's own message about the signal is discarded.
 */
const parent = 'exec 4>&2 2> /dev/null; "$@" 2>&4 4>&-; exit $?';

/** One run of a container. */
export class Container {
  readonly process: Process;
  readonly ended: Promise<Ended>;
  readonly env: Readonly<Record<string, string>>;
  readonly stdinOnce: boolean;
  readonly #directory: string;
  readonly #sandbox: Sandbox;
  /** The PID of the container's first process, on the host and in the sandbox. */
  readonly #pid: number;
  readonly #sandboxPid: number;

  private constructor(sandbox: Sandbox, process: Process, plan: ContainerPlan) {
    this.#directory = plan.directory;
    this.process = process;
    this.ended = process.ended;
    this.env = plan.env;
    this.stdinOnce = plan.stdinOnce;
    this.#sandbox = sandbox;
    this.#pid = firstProcess(process, sandbox);
    this.#sandboxPid = pidsOf(this.#pid)[pidsOf(sandbox.pid).length - 1] ?? 0;
  }

  /** Starts a container. If it cannot be set up, fails with the reason. */
  static async start(sandbox: Sandbox, plan: ContainerPlan): Promise<Container> {
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
      argv: sandbox.commandInside([...unshare, '/bin/sh', script, ...plan.command], plan.network),
      env: { ...plan.env, CONTAINER_PATH: plan.env['PATH'] ?? '' },
      tty: plan.tty,
      stdin: plan.stdin,
    });
    plan.log.take('stdout', process.stdout);
    plan.log.take('stderr', process.stderr);
    if ((await process.firstMessage()) === readyMessage) return new Container(sandbox, process, plan);
    await process.ended;
    throw new Failure('rejected', `cannot set up the container: ${plan.log.tail}`);
  }

  /** Signals the first process, which may have ended already. */
  kill(signal: NodeJS.Signals): void {
    try {
      if (this.#pid > 0) process.kill(this.#pid, signal);
      else this.process.abandon();
    } catch {
      // It has just ended by itself.
    }
  }

  /** Runs another program in the container. */
  exec(command: readonly string[], { tty, stdin }: { readonly tty: boolean; readonly stdin: boolean }): Process {
    // Enters by way of the sandbox: only its root may enter the container's namespaces.
    const target = ['--target', String(this.#sandboxPid), '--user', '--mount', '--pid', '--net', '--uts', '--ipc'];
    const enter = [programPath('nsenter'), ...target, '--preserve-credentials', '--root', '--wd', ...command];
    return new Process({ argv: this.#sandbox.commandInside(enter), env: this.env, tty, stdin });
  }

  get root(): string {
    return join(this.#directory, 'root');
  }

  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** The first process in the container's own PID namespace, among the chain of programs that lead into the container. */
function firstProcess(process: Process, sandbox: Sandbox): number {
  const levels = pidsOf(sandbox.pid).length + 1;
  return process.chain().find((pid) => pidsOf(pid).length === levels) ?? 0;
}

/** The PIDs of a process in all its nested PID namespaces, from the host's inward. */
function pidsOf(pid: number): readonly number[] {
  try {
    const line = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
    return line.split(/\s+/).map(Number);
  } catch {
    return []; // the process is gone
  }
}
