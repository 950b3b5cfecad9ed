import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '../../kube/client.ts';
import { keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import type { Clock } from '../../runtime/clock.ts';
import { EventRecorder } from '../../runtime/events.ts';
import type { Runnable } from '../../runtime/manager.ts';
import { done, type Outcome } from '../../runtime/outcome.ts';
import type { Store } from '../../runtime/store.ts';
import { WorkQueue } from '../../runtime/work-queue.ts';
import { workers } from '../../runtime/worker.ts';
import { type Failure, unless } from '../../std/failure.ts';
import type { Ground } from '../ground/ground.ts';
import { type Addresses, nodeAddress } from '../network/addresses.ts';
import type { PodNetworks } from '../network/pod-network.ts';
import type { FindImage } from './image/image.ts';
import { PodRunner } from './pod/pod-runner.ts';
import type { Slot } from './pod/slot.ts';
import { podStatus } from './pod/status.ts';

export interface KubeletOptions {
  readonly name: string;
  /** Counted from 1. */
  readonly number: number;
  readonly client: KubeClient;
  readonly pods: Store<Pod>;
  readonly clock: Clock;
  readonly ground: Ground;
  readonly networks: PodNetworks;
  readonly addresses: Addresses;
  readonly findImage: FindImage;
  readonly clusterEnvironment: () => Readonly<Record<string, string>>;
  /** Where the node keeps the directories of its pods. */
  readonly directory: string;
  /** Where the lab keeps its persistent volumes. */
  readonly volumes: string;
  readonly onTrouble: (failure: Failure) => void;
}

const workersPerNode = 16;
/** How long containers may take when the whole lab ends. */
const quitSeconds = 2;

/** A node's agent: runs the pods that are bound to the node, and says what became of them. */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #queue: WorkQueue<string>;
  readonly #recorder: EventRecorder;
  /** By the pod's uid. */
  readonly #runners = new Map<string, PodRunner>();
  #isStopped = false;

  constructor(options: KubeletOptions) {
    const { client, clock, name, onTrouble } = options;
    this.#options = options;
    this.#queue = new WorkQueue(clock);
    this.#recorder = new EventRecorder({ client, clock, component: 'kubelet', instance: name, onTrouble });
  }

  get name(): string {
    return this.#options.name;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The place of a container that is on this node. */
  slot({ namespace, pod, container }: { namespace: string; pod: string; container: string }): Slot | undefined {
    const found = this.#options.pods.get(keyOf({ namespace, name: pod }));
    return found === undefined ? undefined : this.#runners.get(found.metadata.uid)?.slot(container);
  }

  /** The address of a pod that is on this node. */
  addressOf({ namespace, pod }: { namespace: string; pod: string }): string | undefined {
    const found = this.#options.pods.get(keyOf({ namespace, name: pod }));
    return found === undefined ? undefined : this.#runners.get(found.metadata.uid)?.address;
  }

  /** Cuts the node's power: its processes end, and it says nothing more. */
  async powerOff(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#runners.values()].map((runner) => runner.kill()));
  }

  /** The lab ends: containers may finish what they are doing, and are not spoken of any more. */
  async quit(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#runners.values()].map((runner) => runner.quit(quitSeconds)));
  }

  powerOn(): void {
    this.#isStopped = false;
    for (const pod of this.#own()) this.#queue.add(keyOf(pod.metadata));
  }

  readonly run: Runnable = async (signal) => {
    const { clock, onTrouble } = this.#options;
    await this.#forgetStrangers();
    const unsubscribe = this.#options.pods.onChange(({ object, old }) => {
      if (this.#isOwn(old ?? object) || this.#isOwn(object)) this.#queue.add(keyOf(object.metadata));
    });
    const reconcile = (key: string): Promise<Outcome> => this.#reconcile(key);
    const onOutcome = (_: string, outcome: Outcome): void => {
      if (outcome.is === 'failed' && outcome.failure.kind !== 'conflict') onTrouble(outcome.failure);
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
    if (isOver(pod)) {
      await runner.leave();
      return done;
    }
    const outcome = await runner.sync(pod);
    await this.#publish(pod, runner);
    return outcome;
  }

  /** A pod that was asked to go: stop its containers, and then let the API forget it. */
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

  /** Pods that are gone from the API, or replaced by others of the same name, leave nothing behind. */
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
    const known = this.#runners.get(uid);
    if (known !== undefined) return known;
    const { client, ground, findImage, clusterEnvironment, directory, addresses, networks, number } = this.#options;
    const key = keyOf(pod.metadata);
    const options = {
      ...{ client, ground, findImage, clusterEnvironment },
      directory: join(directory, uid),
      volumes: this.#options.volumes,
      join: () => addresses.lend(number, (address) => networks.make(address)),
      leave: async (network: Parameters<PodNetworks['remove']>[0]): Promise<void> => {
        await networks.remove(network);
        addresses.giveBack(network.address);
      },
      tell: (told: Parameters<EventRecorder['record']>[1]): void => this.#recorder.record(pod, told),
      onChange: (): void => this.#queue.add(key),
    };
    const runner = new PodRunner(options, pod);
    this.#runners.set(uid, runner);
    this.#keys.set(uid, key);
    return runner;
  }

  /** What an earlier run of the lab left of pods that are no more. */
  async #forgetStrangers(): Promise<void> {
    const { directory } = this.#options;
    if (!existsSync(directory)) return;
    const known = new Set(this.#own().map(({ metadata }) => metadata.uid));
    for (const uid of readdirSync(directory)) {
      if (!known.has(uid)) await rm(join(directory, uid), { recursive: true, force: true });
    }
  }
}

const isOver = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
