import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket as Datagrams } from 'node:dgram';
import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { Failure } from '../../std/failure.ts';
import type { Answer, Question } from './questions.ts';
import { programPath } from './tools.ts';
import { whyNoNamespaces } from './trouble.ts';

export interface GroundOptions {
  /** The address of the bridge all pods are joined to, with the length of its prefix. */
  readonly gateway: string;
  /** The range of service addresses. */
  readonly services: string;
  /** Where compiled sources are kept: with them the first process needs a third less memory. */
  readonly compiled?: string | undefined;
}

const startMillis = 20_000;

/**
 * The namespaces that all pods of the lab are in: one of users, in which we are root, and with it one of processes, of
 * mounts and of the network. All of it ends with us, however we end.
 */
export class Ground {
  readonly #unshare: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer, handle: unknown) => void>();
  /** The first process inside, as seen from outside. */
  readonly pid: number;
  readonly ended: Promise<void>;
  #asked = 0;

  private constructor(unshare: ChildProcess) {
    this.#unshare = unshare;
    this.pid = onlyChild(unshare.pid ?? 0);
    this.ended = new Promise((resolve) => {
      unshare.once('exit', () => resolve());
    });
    unshare.on('message', (answer: Answer, handle) => {
      this.#waiting.get(answer.id)?.(answer, handle);
      this.#waiting.delete(answer.id);
    });
    unshare.once('disconnect', () => this.#refuseAll());
  }

  static async open({ gateway, services, compiled }: GroundOptions): Promise<Ground> {
    for (const needed of ['unshare', 'nsenter', 'ip'] as const) programPath(needed);
    const setup = ['/bin/sh', join(import.meta.dirname, 'ground.sh'), gateway, services];
    const program = [process.execPath, join(import.meta.dirname, 'switchboard.ts')];
    const namespaces = ['--user', '--map-root-user', '--net', '--mount', '--pid', '--fork', '--kill-child'];
    const child = spawn(programPath('unshare'), [...namespaces, '--mount-proc', ...setup, ...program], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: true, // Ctrl-C in front of the lab is for the lab
      env: {
        ...process.env,
        PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
        ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
      },
    });
    await isUp(child);
    return new Ground(child);
  }

  /** How a command is started inside; `network` is the file of a network namespace other than the ground's own. */
  inside(command: readonly string[], network?: string): readonly [string, ...string[]] {
    const enter = programPath('nsenter');
    const target = ['--target', String(this.pid), '--user', '--preserve-credentials', '--mount', '--pid', '--net'];
    return [enter, ...target, ...(network === undefined ? [] : [enter, `--net=${network}`]), ...command];
  }

  /** A connection to an address inside. */
  async dial(host: string, port: number): Promise<Socket> {
    const socket = (await this.#ask('dial', host, port)) as Socket;
    return socket;
  }

  /** A server on an address inside: connections arrive here. */
  async listen(host: string, port: number): Promise<Server> {
    return (await this.#ask('listen', host, port)) as Server;
  }

  async bind(host: string, port: number): Promise<Datagrams> {
    return (await this.#ask('bind', host, port)) as Datagrams;
  }

  /** Ends everything inside. */
  async close(): Promise<void> {
    if (this.#unshare.connected) this.#unshare.disconnect();
    await this.ended;
  }

  #ask(ask: Question['ask'], host: string, port: number): Promise<unknown> {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ refused }, handle) =>
        refused === undefined && handle !== undefined
          ? resolve(handle)
          : reject(new Failure('unreachable', `${ask} ${host}:${port}: ${refused ?? 'no socket came back'}`)),
      );
      if (this.#unshare.connected) this.#unshare.send({ id, ask, host, port } satisfies Question);
      else this.#refuseAll();
    });
  }

  #refuseAll(): void {
    for (const [id, answer] of this.#waiting) answer({ id, refused: 'the lab is no longer running' }, undefined);
    this.#waiting.clear();
  }
}

/** Waits until the first process inside says that it is up; if it never does, says why. */
async function isUp(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const up = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), startMillis);
    const end = (isThere: boolean) => () => {
      clearTimeout(timer);
      resolve(isThere);
    };
    child.once('message', end(true));
    child.once('exit', end(false));
    child.once('error', end(false));
  });
  if (up) return;
  child.kill('SIGKILL');
  throw new Failure('rejected', whyNoNamespaces(said));
}

function onlyChild(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}
