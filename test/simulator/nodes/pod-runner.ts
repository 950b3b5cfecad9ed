import { pods } from '../../../src/kube/resource.ts';
import type { ApiServer } from '../api/api-server.ts';
import type { SimulatedObject } from '../api/objects.ts';
import { type BootParts, boot } from '../etcd/boot.ts';
import { SimulatedEtcd } from '../etcd/process.ts';
import { type EtcdFlags, hostIn, minorIn } from '../etcd/types.ts';
import { asPod, type Ended, etcdImageOf, podStatus, versionOfImage } from './pod-status.ts';
import type { Volumes } from './volumes.ts';

export interface NodeParts extends BootParts {
  readonly api: ApiServer;
  readonly volumes: Volumes;
  readonly addresses: Addresses;
  /** Nodes whose kubelet reports nothing. */
  readonly muted: ReadonlySet<string>;
}

/** Addresses of pods. The address of an ended pod is given to another pod soon. */
export class Addresses {
  readonly #free: string[] = [];
  #made = 0;

  take(): string {
    return this.#free.shift() ?? `10.0.0.${++this.#made}`;
  }

  release(address: string): void {
    this.#free.push(address);
  }
}

const probe = { startMillis: 1_000, millis: 5_000, failures: 3 } as const;
/** From 3.5 on, a member without a leader serves its client port after this time. */
const serveMillis = 5_000;
const backoff = { firstMillis: 10_000, mostMillis: 300_000 } as const;

/** Runs one pod on its node: its container, probes, restarts and status. */
export class PodRunner {
  readonly uid: string;
  readonly node: string;
  readonly #parts: NodeParts;
  readonly #at: { readonly namespace: string | undefined; readonly name: string };
  readonly #address: string;
  #process: SimulatedEtcd | undefined;
  /** The image in the spec, and that of the last container. */
  #wanted: string;
  #image: string;
  #restarts = 0;
  #startedAt: string | undefined;
  #isReady = false;
  #failures = 0;
  #crashes = 0;
  #isBackingOff = false;
  #ended: Ended | undefined;
  #isOver = false;

  constructor(pod: SimulatedObject, node: string, parts: NodeParts) {
    this.#parts = parts;
    this.node = node;
    this.uid = pod.metadata.uid;
    this.#at = { namespace: pod.metadata.namespace, name: pod.metadata.name };
    this.#address = parts.addresses.take();
    this.#wanted = etcdImageOf(pod);
    this.#image = this.#wanted;
    this.#startAfter(300, 2_000);
  }

  get process(): SimulatedEtcd | undefined {
    return this.#process;
  }

  get pod(): SimulatedObject | undefined {
    const found = this.#parts.api.find(pods, this.#at);
    return found?.metadata.uid === this.uid ? found : undefined;
  }

  /** The pod has changed: perhaps its image. */
  see(pod: SimulatedObject): void {
    if (etcdImageOf(pod) === this.#wanted || this.#isOver) return;
    this.#wanted = etcdImageOf(pod);
    this.#parts.scheduler.afterInert(this.#parts.scheduler.random.between(100, 2_000), () => {
      if (!this.#isOver && this.#image !== this.#wanted) this.crash(0, 'container etcd changed');
    });
  }

  /** The container ends, and the kubelet starts it again. */
  crash(code: number, message: string): void {
    if (this.#process === undefined && !this.#isBackingOff) return;
    this.#stopProcess();
    this.#ended = { code, message, at: this.#parts.api.time() };
    this.#crashes = code === 0 ? 0 : this.#crashes + 1;
    this.#restarts++;
    this.#startedAt = undefined;
    this.#isReady = false;
    const wait = this.#crashes <= 1 ? 0 : Math.min(backoff.firstMillis * 2 ** (this.#crashes - 2), backoff.mostMillis);
    this.#isBackingOff = wait > 0;
    this.report();
    this.#startAfter(wait + 100, wait + 1_000);
  }

  /** The pod ends for good. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopProcess();
    this.#parts.addresses.release(this.#address);
  }

  /** The node loses its power: the process ends, and nothing is reported. */
  lose(): void {
    this.#stopProcess();
    this.#startedAt = undefined;
    this.#isReady = false;
  }

  /** The node is back: the kubelet starts the container again. */
  resume(): void {
    if (this.#isOver || this.#process !== undefined) return this.report();
    this.#restarts++;
    this.#startAfter(500, 3_000);
  }

  /** Writes the status, if the node reaches the API server. */
  report(): void {
    const { pod } = this;
    if (pod === undefined || this.#isOver || this.#isMuted) return;
    const status = podStatus(pod, {
      address: this.#address,
      image: this.#image,
      restarts: this.#restarts,
      startedAt: this.#startedAt,
      isReady: this.#isReady,
      isBackingOff: this.#isBackingOff,
      ended: this.#ended,
      now: this.#parts.api.time(),
    });
    this.#parts.api.setStatus(pods, this.#at, status);
  }

  get #isMuted(): boolean {
    return this.#parts.network.isCut(this.node) || this.#parts.muted.has(this.node);
  }

  #stopProcess(): void {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined) return;
    process.stop();
    this.#parts.network.remove(process);
    process.group?.settle();
  }

  #startAfter(least: number, most: number): void {
    const { scheduler } = this.#parts;
    scheduler.afterInert(scheduler.random.between(least, most), () => this.#start());
  }

  #start(): void {
    const { pod } = this;
    const { volumes, network } = this.#parts;
    if (this.#isOver || this.#process !== undefined || pod === undefined) return;
    if (pod.metadata.deletionTimestamp !== undefined) return;
    const disk = volumes.diskOf(pod);
    if (disk === undefined) return this.#startAfter(1_000, 3_000); // the PVC is missing or not bound
    const flags = flagsOf(pod);
    this.#image = this.#wanted;
    const process = new SimulatedEtcd({
      flags,
      version: versionOfImage(this.#image),
      host: hostIn(flags.peerURL),
      address: this.#address,
      node: this.node,
      disk,
      owner: flags.token,
      onExit: (code, message) => this.#onExit(process, code, message),
    });
    this.#process = process;
    this.#startedAt = this.#parts.api.time();
    this.#isBackingOff = false;
    network.add(process);
    this.report();
    this.#parts.scheduler.afterInert(this.#parts.scheduler.random.between(50, 1_000), () => this.#boot(process));
  }

  #boot(process: SimulatedEtcd): void {
    if (this.#process !== process) return;
    const { scheduler, trace, volumes } = this.#parts;
    const isOnVolume = this.pod === undefined || volumes.diskOf(this.pod) === process.settings.disk;
    const refused = isOnVolume ? boot(process, this.#parts) : { refused: 'the volume is gone' };
    if (refused !== undefined) return this.#onExit(process, 1, refused.refused);
    process.state = 'running';
    process.runningSince = scheduler.now;
    trace.add('etcd', () => `${process.name} runs ${process.version} (${process.settings.flags.initialState})`);
    if (minorIn(process.version) >= 5)
      scheduler.afterInert(serveMillis, () => void (process.isServing ||= process.isRunning));
    process.group?.settle();
    this.#probe(process, probe.startMillis);
  }

  #onExit(process: SimulatedEtcd, code: number, message: string): void {
    if (this.#process !== process) return;
    this.#parts.trace.add('etcd', () => `${process.name} exits: ${message}`);
    this.crash(code, message);
  }

  #probe(process: SimulatedEtcd, millis: number): void {
    this.#parts.scheduler.afterInert(millis, () => {
      if (this.#process !== process) return;
      const isHealthy = servesClients(process);
      this.#failures = isHealthy ? 0 : this.#failures + 1;
      const isReady = isHealthy || (this.#isReady && this.#failures < probe.failures);
      if (isReady !== this.#isReady) {
        this.#isReady = isReady;
        this.report();
      }
      this.#probe(process, this.#isReady || millis === probe.millis ? probe.millis : probe.startMillis);
    });
  }
}

/** What `/health` answers: a read goes through the leader. */
function servesClients(process: SimulatedEtcd): boolean {
  const { group, entry } = process;
  const leader = group?.leader;
  return process.isServing && entry !== undefined && leader !== undefined && group?.canTalk(process, leader) === true;
}

function flagsOf(pod: SimulatedObject): EtcdFlags {
  const { annotations = {} } = pod.metadata;
  const { command = [] } = asPod(pod).spec?.containers?.find(({ name }) => name === 'etcd') ?? {};
  const flag = (name: string): string =>
    command.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '';
  const annotated = (end: string): string => Object.entries(annotations).find(([key]) => key.endsWith(end))?.[1] ?? '';
  return {
    name: flag('name'),
    peerURL: flag('initial-advertise-peer-urls'),
    initialCluster: annotated('/initial-cluster'),
    initialState: annotated('/initial-cluster-state'),
    token: annotated('/initial-cluster-token'),
  };
}
