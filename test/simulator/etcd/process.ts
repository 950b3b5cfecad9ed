import type { EtcdGroup } from './group.ts';
import type { DataDirectory, Disk, EtcdFlags, MemberEntry } from './types.ts';

export interface ProcessSettings {
  readonly flags: EtcdFlags;
  readonly version: string;
  readonly host: string;
  readonly address: string;
  readonly node: string;
  readonly disk: Disk;
  /** The resource that the pod belongs to, for oracles. */
  readonly owner: string;
  readonly onExit: (code: number, message: string) => void;
}

/** One run of etcd in a container. */
export class SimulatedEtcd {
  readonly settings: ProcessSettings;
  state: 'starting' | 'running' | 'exited' = 'starting';
  runningSince = 0;
  /** True once the client port is served: the member has published its URLs, or has waited long enough. */
  isServing = false;
  /** The time in milliseconds that a slow member adds to each answer. */
  slowMillis = 0;

  constructor(settings: ProcessSettings) {
    this.settings = settings;
  }

  get isRunning(): boolean {
    return this.state === 'running';
  }

  get host(): string {
    return this.settings.host;
  }

  get address(): string {
    return this.settings.address;
  }

  get node(): string {
    return this.settings.node;
  }

  get version(): string {
    return this.settings.version;
  }

  get name(): string {
    return this.settings.flags.name;
  }

  get data(): DataDirectory | undefined {
    return this.settings.disk.data;
  }

  get group(): EtcdGroup | undefined {
    return this.data?.group;
  }

  /** The entry of this member in the newest configuration that it knows. */
  get entry(): MemberEntry | undefined {
    return this.config.find(({ id }) => id === this.data?.memberId);
  }

  /** The newest member list in its own log. A member that has just joined knows the list that it has fetched. */
  get config(): readonly MemberEntry[] {
    const { data } = this;
    return data === undefined ? [] : data.group.configAt(data.index);
  }

  /** Ends the process without an effect on its container. */
  stop(): void {
    this.state = 'exited';
    this.isServing = false;
  }
}
