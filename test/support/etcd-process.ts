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
  /** Where its log and its data are. */
  readonly directory: string;
  readonly endpoint: Endpoint;
  readonly peerURL: string;
  readonly flags: readonly string[];
}

/** A process is told to stop at once, but its threads stop one by one. */
const stands = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return stat[stat.lastIndexOf(')') + 2] === 'T';
  });

/** How a member comes into a cluster: what etcd has to know when it starts without data. */
export interface Entrance {
  readonly state: 'new' | 'existing';
  /** All members of the cluster, itself included. */
  readonly members: readonly { readonly name: string; readonly peerURL: string }[];
}

/** A real etcd, to be started, stopped, killed and frozen. */
export class EtcdProcess {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly peerURL: string;
  /** May be set to another version, for the next start. */
  version: EtcdVersion;
  readonly #settings: EtcdProcessSettings;
  #child: ChildProcess | undefined;
  #entrance: Entrance | undefined;

  constructor(settings: EtcdProcessSettings) {
    this.name = settings.name;
    this.endpoint = settings.endpoint;
    this.peerURL = settings.peerURL;
    this.version = settings.version;
    this.#settings = settings;
  }

  /** Starts it, and does not wait until it answers. Without an entrance, as it was started last. */
  start(entrance: Entrance | undefined = this.#entrance): void {
    if (entrance === undefined)
      throw new Error(`${this.name} has never been started: say how it comes into its cluster`);
    this.#entrance = entrance;
    const log = openSync(this.#logFile, 'a');
    // The kernel kills it when we are gone, however we went: a test run that is cut off leaves no etcd behind, frozen or not.
    const dying = ['--pdeathsig', 'KILL', etcdProgram(this.version, 'etcd')];
    const child = spawn('setpriv', [...dying, ...this.#arguments(entrance)], {
      stdio: ['ignore', log, log],
      env: { PATH: process.env['PATH'], ETCD_UNSUPPORTED_ARCH: process.arch },
    });
    closeSync(log);
    this.#child = child;
  }

  /** Asks it to stop, and waits until it has. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Ends it as a power failure would. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Makes it neither run nor end: its connections stay open, and nothing answers. */
  async freeze(): Promise<void> {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.name} does not run, so it cannot be frozen`);
    this.#child?.kill('SIGSTOP');
    await until(`${this.name} stands still`, async () => stands(pid) || undefined);
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

  #arguments({ state, members }: Entrance): readonly string[] {
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
