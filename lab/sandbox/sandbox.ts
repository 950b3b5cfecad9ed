import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket as Datagrams } from 'node:dgram';
import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { Failure } from '../../src/std/failure.ts';
import { programPath } from './host-programs.ts';
import { explainNoNamespaces } from './namespace-support.ts';
import type { SocketReply, SocketRequest } from './socket-request.ts';

export interface SandboxOptions {
  /** The address of the bridge that all pods are attached to, with its prefix length. */
  readonly gateway: string;
  /** The CIDR of Services. */
  readonly services: string;
  /** The directory of Node's compile cache. It saves the socket broker a third of its memory. */
  readonly compiled?: string | undefined;
}

const startMillis = 20_000;

/**
 * The user, PID, mount and network namespaces around all pods of the lab. The lab is root in the user namespace. The
 * namespaces end with the lab's own process, even if that is killed.
 */
export class Sandbox {
  readonly #unshare: ChildProcess;
  readonly #pending = new Map<number, (reply: SocketReply, handle: unknown) => void>();
  /** The host PID of the first process in the sandbox. */
  readonly pid: number;
  readonly ended: Promise<void>;
  #lastId = 0;

  private constructor(unshare: ChildProcess) {
    this.#unshare = unshare;
    this.pid = firstChild(unshare.pid ?? 0);
    this.ended = new Promise((resolve) => {
      unshare.once('exit', () => resolve());
    });
    unshare.on('message', (reply: SocketReply, handle) => {
      this.#pending.get(reply.id)?.(reply, handle);
      this.#pending.delete(reply.id);
    });
    unshare.once('disconnect', () => this.#failAll());
  }

  static async open({ gateway, services, compiled }: SandboxOptions): Promise<Sandbox> {
    for (const needed of ['unshare', 'nsenter', 'ip'] as const) programPath(needed);
    const setup = ['/bin/sh', join(import.meta.dirname, 'setup.sh'), gateway, services];
    const program = [process.execPath, join(import.meta.dirname, 'socket-broker.ts')];
    const namespaces = ['--user', '--map-root-user', '--net', '--mount', '--pid', '--fork', '--kill-child'];
    const child = spawn(programPath('unshare'), [...namespaces, '--mount-proc', ...setup, ...program], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: true, // Ctrl-C is handled by the lab itself
      env: {
        ...process.env,
        PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
        ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
      },
    });
    await waitUntilUp(child);
    return new Sandbox(child);
  }

  /** The command line that runs a command in the sandbox. `network` is the file of a pod's network namespace. */
  commandInside(command: readonly string[], network?: string): readonly [string, ...string[]] {
    const enter = programPath('nsenter');
    const target = ['--target', String(this.pid), '--user', '--preserve-credentials', '--mount', '--pid', '--net'];
    return [enter, ...target, ...(network === undefined ? [] : [enter, `--net=${network}`]), ...command];
  }

  /** Opens a connection to an address in the sandbox. */
  async dial(host: string, port: number): Promise<Socket> {
    const socket = (await this.#request('dial', host, port)) as Socket;
    return socket;
  }

  /** Opens a server on an address in the sandbox; its connections arrive in this process. */
  async listen(host: string, port: number): Promise<Server> {
    return (await this.#request('listen', host, port)) as Server;
  }

  async bind(host: string, port: number): Promise<Datagrams> {
    return (await this.#request('bind', host, port)) as Datagrams;
  }

  /** Ends every process in the sandbox. */
  async close(): Promise<void> {
    if (this.#unshare.connected) this.#unshare.disconnect();
    await this.ended;
  }

  #request(operation: SocketRequest['operation'], host: string, port: number): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, ({ error }, handle) =>
        error === undefined && handle !== undefined
          ? resolve(handle)
          : reject(
              new Failure(
                'unreachable',
                `${operation} ${host}:${port}: ${error ?? 'the socket broker sent no socket'}`,
              ),
            ),
      );
      if (this.#unshare.connected) this.#unshare.send({ id, operation, host, port } satisfies SocketRequest);
      else this.#failAll();
    });
  }

  #failAll(): void {
    for (const [id, settle] of this.#pending) settle({ id, error: 'the lab is not running' }, undefined);
    this.#pending.clear();
  }
}

/** Waits for the first message of the socket broker. Without one, fails with the reason. */
async function waitUntilUp(child: ChildProcess): Promise<void> {
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const up = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), startMillis);
    const end = (isUp: boolean) => () => {
      clearTimeout(timer);
      resolve(isUp);
    };
    child.once('message', end(true));
    child.once('exit', end(false));
    child.once('error', end(false));
  });
  if (up) return;
  child.kill('SIGKILL');
  throw new Failure('rejected', explainNoNamespaces(stderr));
}

function firstChild(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}
