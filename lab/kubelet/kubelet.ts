import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '../../src/kube/client.ts';
import { keyOf, type Pod, type Stored } from '../../src/kube/object.ts';
import { pods } from '../../src/kube/resource.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { EventRecorder } from '../../src/runtime/events.ts';
import type { Runnable } from '../../src/runtime/manager.ts';
import { done, type Outcome } from '../../src/runtime/outcome.ts';
import type { Store } from '../../src/runtime/store.ts';
import { WorkQueue } from '../../src/runtime/work-queue.ts';
import { workers } from '../../src/runtime/worker.ts';
import { type Failure, unless } from '../../src/std/failure.ts';
import { type Addresses, nodeAddress } from '../network/addresses.ts';
import type { PodNetworks } from '../network/pod-network.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ContainerAddress } from '../streams.ts';
import type { FindImage } from './image/image.ts';
import type { ContainerRunner } from './pod/container-runner.ts';
import { PodRunner } from './pod/pod-runner.ts';
import { podStatus } from './pod/status.ts';

export interface KubeletOptions {
  readonly name: string;
  /** Counted from 1. */
  readonly number: number;
  readonly client: KubeClient;
  readonly pods: Store<Pod>;
  readonly clock: Clock;
  readonly sandbox: Sandbox;
  readonly networks: PodNetworks;
  readonly addresses: Addresses;
  readonly findImage: FindImage;
  readonly clusterEnvironment: () => Readonly<Record<string, string>>;
  /** The directory for the pods of this node. */
  readonly directory: string;
  /** The directory of the lab's persistent volumes. */
  readonly volumes: string;
  readonly onFailure: (failure: Failure) => void;
}

const workersPerNode = 16;
/** The grace period of containers when the lab ends. */
const quitSeconds = 2;

/** The kubelet of one node: runs the pods bound to the node, and writes their status. */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #queue: WorkQueue<string>;
  readonly #recorder: EventRecorder;
  /** Runners by pod UID. */
  readonly #runners = new Map<string, PodRunner>();
  #isStopped = false;

  constructor(options: KubeletOptions) {
    const { client, clock, name, onFailure } = options;
    this.#options = options;
    this.#queue = new WorkQueue(clock);
    this.#recorder = new EventRecorder({ client, clock, component: 'kubelet', instance: name, onFailure });
  }

  get name(): string {
    return this.#options.name;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The runner of a container, if its pod is on this node. */
  containerRunner(address: ContainerAddress): ContainerRunner | undefined {
    const { namespace, pod, container } = address;
    const found = this.#options.pods.get(keyOf({ namespace, name: pod }));
    return found === undefined ? undefined : this.#runners.get(found.metadata.uid)?.containerRunner(container);
  }

  /** The address of a pod, if it is on this node. */
  addressOf({ namespace, pod }: { namespace: string; pod: string }): string | undefined {
    const found = this.#options.pods.get(keyOf({ namespace, name: pod }));
    return found === undefined ? undefined : this.#runners.get(found.metadata.uid)?.address;
  }

  /** Simulates a power cut: kills the processes of all pods, and writes no more status. */
  async powerOff(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#runners.values()].map((runner) => runner.kill()));
  }

  /** Stops all containers gracefully because the lab ends. Their pods keep their status. */
  async quit(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#runners.values()].map((runner) => runner.quit(quitSeconds)));
  }

  powerOn(): void {
    this.#isStopped = false;
    for (const pod of this.#own()) this.#queue.add(keyOf(pod.metadata));
  }

  readonly run: Runnable = async (signal) => {
    const { clock, onFailure } = this.#options;
    await this.#removeLeftovers();
    const unsubscribe = this.#options.pods.onChange(({ object, old }) => {
      if (this.#isOwn(old ?? object) || this.#isOwn(object)) this.#queue.add(keyOf(object.metadata));
    });
    const reconcile = (key: string): Promise<Outcome> => this.#reconcile(key);
    const onOutcome = (_: string, outcome: Outcome): void => {
      if (outcome.is === 'failed' && outcome.failure.kind !== 'conflict') onFailure(outcome.failure);
    };
    await workers({ queue: this.#queue, reconcile, count: workersPerNode, clock, onOutcome })(signal);
    unsubscribe();
    await this.#recorder.flush(AbortSignal.timeout(1_000));
  };

  #isOwn({ spec }: Pod): boolean {
    return spec?.nodeName === this.name;
  }

  #own(): readonly Stored<Pod>[] {
    return this.#options.pods.all().filter((pod) => this.#isOwn(pod));
  }

  async #reconcile(key: string): Promise<Outcome> {
    const pod = this.#options.pods.get(key);
    await this.#removeGone(key, pod?.metadata.uid);
    if (pod === undefined || !this.#isOwn(pod) || this.#isStopped) return done;
    if (pod.metadata.deletionTimestamp !== undefined) return await this.#end(pod);
    const runner = this.#runnerFor(pod);
    if (hasFinished(pod)) {
      await runner.releaseNetwork();
      return done;
    }
    const outcome = await runner.sync(pod);
    await this.#publish(pod, runner);
    return outcome;
  }

  /** Stops the containers of a pod under deletion, then removes the Pod object. */
  async #end(pod: Stored<Pod>): Promise<Outcome> {
    const runner = this.#runnerFor(pod);
    const { uid, deletionGracePeriodSeconds = 0 } = pod.metadata;
    const stopped = runner.stop(pod, deletionGracePeriodSeconds);
    await this.#publish(pod, runner);
    if (runner.isRunning) {
      stopped.catch(() => undefined);
      return done;
    }
    await runner.remove();
    this.#runners.delete(uid);
    const { client } = this.#options;
    await unless(
      'not-found',
      client.remove(pods, pod.metadata, { gracePeriodSeconds: 0, preconditions: { uid } }),
      undefined,
    );
    return done;
  }

  async #publish(pod: Stored<Pod>, runner: PodRunner): Promise<void> {
    const { client, clock, number } = this.#options;
    const facts = { views: runner.views, address: runner.address, hostAddress: nodeAddress(number), now: clock.now() };
    const status = podStatus(pod, facts);
    if (isDeepStrictEqual({ ...pod.status, ...status }, pod.status)) return;
    const body = { metadata: { uid: pod.metadata.uid }, status };
    await unless(
      'not-found',
      client.patch(pods, pod.metadata, { type: 'merge', body, subresource: 'status' }),
      undefined,
    );
  }

  /** Removes the runners of deleted pods, and of pods replaced by another with the same name. */
  async #removeGone(key: string, uid: string | undefined): Promise<void> {
    for (const [each, runner] of this.#runners) {
      if (this.#keys.get(each) !== key || each === uid) continue;
      await runner.remove();
      this.#runners.delete(each);
      this.#keys.delete(each);
    }
  }

  readonly #keys = new Map<string, string>();

  #runnerFor(pod: Stored<Pod>): PodRunner {
    const { uid } = pod.metadata;
    const existing = this.#runners.get(uid);
    if (existing !== undefined) return existing;
    const { client, sandbox, findImage, clusterEnvironment, directory, addresses, networks, number } = this.#options;
    const key = keyOf(pod.metadata);
    const options = {
      client,
      sandbox,
      findImage,
      clusterEnvironment,
      directory: join(directory, uid),
      volumes: this.#options.volumes,
      makeNetwork: () => addresses.withAddress(number, (address) => networks.make(address)),
      removeNetwork: async (network: Parameters<PodNetworks['remove']>[0]): Promise<void> => {
        await networks.remove(network);
        addresses.release(network.address);
      },
      recordEvent: (event: Parameters<EventRecorder['record']>[1]): void => this.#recorder.record(pod, event),
      onChange: (): void => this.#queue.add(key),
    };
    const runner = new PodRunner(options, pod);
    this.#runners.set(uid, runner);
    this.#keys.set(uid, key);
    return runner;
  }

  /** Deletes directories that an earlier run left for pods that no longer exist. */
  async #removeLeftovers(): Promise<void> {
    const { directory } = this.#options;
    if (!existsSync(directory)) return;
    const known = new Set(this.#own().map(({ metadata }) => metadata.uid));
    for (const uid of readdirSync(directory)) {
      if (!known.has(uid)) await rm(join(directory, uid), { recursive: true, force: true });
    }
  }
}

const hasFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
