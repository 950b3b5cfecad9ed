import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endpoint } from '../../src/etcd/endpoint.ts';
import { etcdProgram } from '../../tools/programs/build.ts';
import type { EtcdVersion } from '../../tools/programs/catalog.ts';
import { until } from './until.ts';

/** The 6 of 3.6.16. */
export const minorOf = (version: EtcdVersion): number => Number(version.split('.')[1]);

export interface EtcdProcessSettings {
  readonly name: string;
  readonly version: EtcdVersion;
  /** The directory of log and data. */
  readonly directory: string;
  readonly endpoint: Endpoint;
  readonly peerURL: string;
  readonly flags: readonly string[];
}

/** After SIGSTOP the threads of a process stop one by one. */
const isStopped = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return stat[stat.lastIndexOf(')') + 2] === 'T';
  });

/** The initial cluster flags of an etcd without data. */
export interface InitialCluster {
  readonly state: 'new' | 'existing';
  /** All members of the cluster, including this one. */
  readonly members: readonly { readonly name: string; readonly peerURL: string }[];
}

/** A real etcd process that a test starts, stops, kills and freezes. */
export class EtcdProcess {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly peerURL: string;
  /** May be set to another version, for the next start. */
  version: EtcdVersion;
  readonly #settings: EtcdProcessSettings;
  #child: ChildProcess | undefined;
  #initialCluster: InitialCluster | undefined;

  constructor(settings: EtcdProcessSettings) {
    this.name = settings.name;
    this.endpoint = settings.endpoint;
    this.peerURL = settings.peerURL;
    this.version = settings.version;
    this.#settings = settings;
  }

  /** Starts the process without waiting. Without `initialCluster`, the flags of the last start are used. */
  start(initialCluster: InitialCluster | undefined = this.#initialCluster): void {
    if (initialCluster === undefined) throw new Error(`${this.name} has never been started: pass initialCluster`);
    this.#initialCluster = initialCluster;
    const log = openSync(this.#logFile, 'a');
    // The kernel kills etcd when this process ends: an aborted test run leaves no etcd behind, frozen or not.
    const command = ['--pdeathsig', 'KILL', etcdProgram(this.version, 'etcd')];
    const child = spawn('setpriv', [...command, ...this.#arguments(initialCluster)], {
      stdio: ['ignore', log, log],
      env: { PATH: process.env['PATH'], ETCD_UNSUPPORTED_ARCH: process.arch },
    });
    closeSync(log);
    this.#child = child;
  }

  /** Sends SIGTERM, and waits until the process has ended. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Sends SIGKILL, like a power failure. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Suspends the process: its connections stay open, and it does not answer. */
  async freeze(): Promise<void> {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.name} is not running and cannot be frozen`);
    this.#child?.kill('SIGSTOP');
    await until(`${this.name} is stopped`, async () => isStopped(pid) || undefined);
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  get log(): string {
    return readFileSync(this.#logFile, 'utf8');
  }

  get #logFile(): string {
    return join(this.#settings.directory, `${this.name}.log`);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  #arguments({ state, members }: InitialCluster): readonly string[] {
    const { name, directory, endpoint, peerURL, flags } = this.#settings;
    const flagOf = {
      name,
      'data-dir': join(directory, name),
      'listen-client-urls': endpoint.url,
      'advertise-client-urls': endpoint.url,
      'listen-peer-urls': peerURL,
      'initial-advertise-peer-urls': peerURL,
      'initial-cluster': members.map((member) => `${member.name}=${member.peerURL}`).join(','),
      'initial-cluster-state': state,
      'initial-cluster-token': directory,
    };
    const withoutSync = minorOf(this.version) >= 4 ? ['--unsafe-no-fsync'] : [];
    return [...Object.entries(flagOf).map(([flag, value]) => `--${flag}=${value}`), ...withoutSync, ...flags];
  }
}
