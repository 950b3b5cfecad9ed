import { persistentVolumeClaims, pods } from '../../../src/kube/resource.ts';
import type { ObjectChange } from '../api/api-server.ts';
import type { SimulatedObject } from '../api/objects.ts';
import { type NodeParts, PodRunner } from './pod-runner.ts';
import { asPod } from './pod-status.ts';
import { claimOf, phaseOf } from './volumes.ts';

const names = ['node-1', 'node-2', 'node-3', 'node-4'];

const servedNamespace = 'default';

/** How long a node is silent until the control plane calls it not ready, and until its pods are deleted. */
const notReadyMillis = 40_000;
const evictionMillis = 300_000;

/** The scheduler and the kubelets of a few nodes. */
export class SimulatedNodes {
  readonly #parts: NodeParts;
  readonly #runners = new Map<string, PodRunner>();
  readonly #down = new Set<string>();
  readonly #muted = new Set<string>();
  /** Since when a node has been silent. */
  readonly #silentSince = new Map<string, number>();

  constructor(parts: Omit<NodeParts, 'muted'>) {
    this.#parts = { ...parts, muted: this.#muted };
    parts.api.onChange(pods, (change) => this.#onPod(change));
  }

  get names(): readonly string[] {
    return names;
  }

  get runners(): readonly PodRunner[] {
    return [...this.#runners.values()];
  }

  runnerOf({ metadata }: SimulatedObject): PodRunner | undefined {
    return this.#runners.get(metadata.uid);
  }

  isSilent(node: string): boolean {
    return this.#down.has(node) || this.#muted.has(node) || this.#parts.network.isCut(node);
  }

  /** The node loses its power. Its volumes stay. */
  stop(node: string): void {
    if (this.isSilent(node)) return;
    this.#down.add(node);
    for (const runner of this.#on(node)) runner.lose();
    this.#watchSilence(node);
  }

  /** The node runs, and reaches nothing. */
  cut(node: string): void {
    if (this.isSilent(node)) return;
    this.#parts.network.cut(node);
    this.#watchSilence(node);
  }

  /** The kubelet reports nothing. Containers run, and are reached. */
  mute(node: string): void {
    if (this.isSilent(node)) return;
    this.#muted.add(node);
    this.#watchSilence(node);
  }

  /** The node is back. */
  restore(node: string): void {
    const wasDown = this.#down.delete(node);
    this.#muted.delete(node);
    this.#parts.network.heal(node);
    this.#silentSince.delete(node);
    for (const runner of this.#on(node)) {
      const { pod } = runner;
      if (pod === undefined) this.#end(runner);
      else if (pod.metadata.deletionTimestamp !== undefined) this.#stopGracefully(runner, pod);
      else this.#catchUp(runner, pod, wasDown);
    }
    for (const pod of this.#podsOn(node)) if (!this.#runners.has(pod.metadata.uid)) this.#take(pod, node);
  }

  /** The kubelet learns what has changed while the node was silent. */
  #catchUp(runner: PodRunner, pod: SimulatedObject, wasDown: boolean): void {
    if (wasDown) runner.resume();
    else runner.report();
    runner.see(pod);
  }

  /** A pod that was bound to the node while the node was silent. */
  #take(pod: SimulatedObject, node: string): void {
    if (pod.metadata.deletionTimestamp === undefined)
      this.#runners.set(pod.metadata.uid, new PodRunner(pod, node, this.#parts));
    else this.#parts.api.finish(pods, pod.metadata);
  }

  restoreAll(): void {
    for (const node of names) this.restore(node);
  }

  #on(node: string): readonly PodRunner[] {
    return this.runners.filter((runner) => runner.node === node);
  }

  #onPod({ type, object }: ObjectChange): void {
    const { random } = this.#parts.scheduler;
    if (object.metadata.namespace !== servedNamespace) return; // pods of other users run nothing here
    if (type === 'ADDED') return this.#scheduleAfter(random.between(20, 300), object);
    const runner = this.runnerOf(object);
    if (runner === undefined || this.isSilent(runner.node)) return;
    if (type === 'DELETED') this.#parts.scheduler.afterInert(random.between(20, 500), () => this.#end(runner));
    else if (object.metadata.deletionTimestamp !== undefined) this.#stopGracefully(runner, object);
    else runner.see(object);
  }

  /** etcd ends on SIGTERM within a moment. */
  #stopGracefully(runner: PodRunner, { metadata }: SimulatedObject): void {
    const { scheduler, api } = this.#parts;
    scheduler.afterInert(scheduler.random.between(50, 1_500), () => {
      if (this.isSilent(runner.node)) return;
      this.#end(runner);
      if (runner.pod !== undefined || api.find(pods, metadata)?.metadata.uid === runner.uid) api.finish(pods, metadata);
    });
  }

  #end(runner: PodRunner): void {
    if (this.isSilent(runner.node)) return;
    this.#runners.delete(runner.uid);
    runner.end();
  }

  #scheduleAfter(millis: number, pod: SimulatedObject): void {
    this.#parts.scheduler.afterInert(millis, () => this.#schedule(pod));
  }

  #schedule({ metadata }: SimulatedObject): void {
    const { api, scheduler } = this.#parts;
    const pod = api.find(pods, metadata);
    if (pod?.metadata.uid !== metadata.uid || pod.metadata.deletionTimestamp !== undefined) return;
    const obstacle = this.#obstacleTo(pod);
    if (obstacle !== undefined) {
      this.#reportUnschedulable(pod, obstacle);
      return this.#scheduleAfter(1_000, pod);
    }
    const free = names.filter((name) => !this.#isKnownSilent(name));
    const node = scheduler.random.pick(free);
    api.change(pods, metadata, (object) => ({ ...object, spec: { ...Object(object.spec), nodeName: node } }));
    const bound = api.find(pods, metadata);
    if (bound === undefined) return;
    if (this.isSilent(node)) return; // the node has not been called silent yet: the pod waits for it
    this.#runners.set(metadata.uid, new PodRunner(bound, node, this.#parts));
  }

  #obstacleTo(pod: SimulatedObject): string | undefined {
    if (names.every((name) => this.#isKnownSilent(name))) return '0/4 nodes are available';
    const name = claimOf(pod);
    if (name === undefined) return undefined;
    const claim = this.#parts.api.find(persistentVolumeClaims, { namespace: pod.metadata.namespace, name });
    if (claim === undefined) return `persistentvolumeclaim "${name}" not found`;
    return phaseOf(claim) === 'Lost'
      ? `persistentvolumeclaim "${name}" bound to non-existent persistentvolume`
      : undefined;
  }

  #reportUnschedulable(pod: SimulatedObject, message: string): void {
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
    this.#parts.api.setStatus(pods, pod.metadata, { phase: 'Pending', conditions: [condition] });
  }

  #isKnownSilent(node: string): boolean {
    const since = this.#silentSince.get(node);
    return since !== undefined && this.#parts.scheduler.now - since >= notReadyMillis;
  }

  #watchSilence(node: string): void {
    const { scheduler } = this.#parts;
    const since = scheduler.now;
    this.#silentSince.set(node, since);
    const isStill = (): boolean => this.#silentSince.get(node) === since;
    scheduler.afterInert(notReadyMillis, () => isStill() && this.#markUnready(node));
    scheduler.afterInert(notReadyMillis + evictionMillis, () => isStill() && this.#evict(node));
  }

  #podsOn(node: string): readonly SimulatedObject[] {
    return this.#parts.api
      .list(pods, { namespace: servedNamespace })
      .filter((pod) => asPod(pod).spec?.nodeName === node);
  }

  /** The control plane marks the pods of a silent node unready. It does not touch their containers. */
  #markUnready(node: string): void {
    const { api } = this.#parts;
    for (const pod of this.#podsOn(node)) {
      const { status } = asPod(pod);
      const conditions = status?.conditions?.map((each) =>
        each.type === 'Ready' ? { ...each, status: 'False', lastTransitionTime: api.time() } : each,
      );
      api.setStatus(pods, pod.metadata, { ...status, conditions });
    }
  }

  #evict(node: string): void {
    for (const pod of this.#podsOn(node))
      if (pod.metadata.deletionTimestamp === undefined) this.#parts.api.remove(pods, pod.metadata);
  }
}
