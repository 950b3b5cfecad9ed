import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../../src/kube/client.ts';
import type { Pod } from '../../../src/kube/object.ts';
import type { EventContent } from '../../../src/runtime/events.ts';
import { done, type Outcome, requeueAfter } from '../../../src/runtime/outcome.ts';
import { Failure } from '../../../src/std/failure.ts';
import type { PodNetwork } from '../../network/pod-network.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { ContainerSpec } from '../container/environment.ts';
import type { FindImage } from '../image/image.ts';
import { makeVolumes, mayChange } from '../volumes/volumes.ts';
import { ApiLookup } from './api-lookup.ts';
import { ContainerRunner, startFailure } from './container-runner.ts';
import { writeEtc } from './etc.ts';
import { planPod } from './plan.ts';
import { seedView } from './seed.ts';
import { startPlan } from './start-plan.ts';
import { formatTime } from './status.ts';
import type { Views } from './view.ts';

export interface RunnerOptions {
  readonly client: KubeClient;
  readonly sandbox: Sandbox;
  readonly findImage: FindImage;
  readonly clusterEnvironment: () => Readonly<Record<string, string>>;
  /** The pod's directory. */
  readonly directory: string;
  /** The directory of the lab's persistent volumes. */
  readonly volumes: string;
  readonly makeNetwork: () => Promise<PodNetwork>;
  readonly removeNetwork: (network: PodNetwork) => Promise<void>;
  readonly recordEvent: (event: EventContent) => void;
  readonly onChange: () => void;
}

/** The wait after a failed start. The wait for volumes and network grows up to it. */
const retrySeconds = 2;
const firstRetrySeconds = 0.1;
/** The waits after failed image pulls. */
const pullBackoffSeconds = [10, 20, 40, 80, 160, 300];
/** How often the files of Secrets, ConfigMaps and tokens are updated. */
const refreshSeconds = 30;

/** Runs one pod on its node: its network, its volumes and its containers. */
export class PodRunner {
  readonly #options: RunnerOptions;
  readonly #lookup: ApiLookup;
  readonly #runners = new Map<string, ContainerRunner>();
  /** How often in a row the image of a container could not be pulled. */
  readonly #failedPulls = new Map<string, number>();
  #network: PodNetwork | undefined;
  #volumes: Readonly<Record<string, string>> = {};
  #stopping: Promise<void> | undefined;
  /** How often in a row the volumes or the network failed. */
  #failedPreparations = 0;

  constructor(options: RunnerOptions, pod: Pod) {
    this.#options = options;
    this.#lookup = new ApiLookup(options.client, pod, options.volumes);
  }

  get address(): string | undefined {
    return this.#network?.address;
  }

  get views(): Views {
    return Object.fromEntries([...this.#runners].map(([name, runner]) => [name, runner.view]));
  }

  containerRunner(container: string): ContainerRunner | undefined {
    return this.#runners.get(container);
  }

  /** Starts and stops containers as the spec asks. `onChange` reports what finishes later. */
  async sync(pod: Pod): Promise<Outcome> {
    try {
      await this.#prepare(pod);
      this.#failedPreparations = 0;
    } catch (thrown) {
      return this.#retryPreparation(Failure.from(thrown));
    }
    const plan = planPod(pod.spec ?? { containers: [] }, this.views, Date.now());
    for (const spec of plan.stop) this.#replace(pod, spec);
    await Promise.all(plan.start.map((spec) => this.#start(pod, spec)));
    const waits = plan.nextCheckAt === undefined ? [] : [(plan.nextCheckAt - Date.now()) / 1000];
    if (mayChange(pod)) waits.push(refreshSeconds);
    return waits.length === 0 ? done : requeueAfter(Math.max(0.05, Math.min(...waits)));
  }

  /** Stops all containers within the grace period; resolves when the last has ended. */
  stop(pod: Pod, graceSeconds: number): Promise<void> {
    this.#stopping ??= Promise.all(
      containersOf(pod).map(async (spec) => {
        const runner = this.#runners.get(spec.name);
        if (runner?.view.state.is !== 'running') return;
        this.#options.recordEvent({ type: 'Normal', reason: 'Killing', message: `Stopping container ${spec.name}` });
        await runner.stop(spec, graceSeconds);
      }),
    ).then(() => this.#options.onChange());
    return this.#stopping;
  }

  get isRunning(): boolean {
    return [...this.#runners.values()].some(({ view }) => view.state.is === 'running');
  }

  /** Stops all containers because the lab ends; the pod continues when the lab starts again. */
  async quit(graceSeconds: number): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.quit(graceSeconds)));
  }

  /** Kills all containers at once, like a power cut. */
  async kill(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.kill()));
  }

  /** Removes the network of a finished pod. */
  async releaseNetwork(): Promise<void> {
    const network = this.#network;
    this.#network = undefined;
    if (network !== undefined) await this.#options.removeNetwork(network);
  }

  /** Removes everything of the pod from this node. */
  async remove(): Promise<void> {
    await this.kill();
    await this.releaseNetwork();
    await rm(this.#options.directory, { recursive: true, force: true });
  }

  /** Retries. The Event is recorded only after some retries, since a PVC is usually bound within a moment. */
  #retryPreparation({ message }: Failure): Outcome {
    const seconds = Math.min(retrySeconds, firstRetrySeconds * 2 ** this.#failedPreparations++);
    if (seconds === retrySeconds)
      this.#options.recordEvent({
        type: 'Warning',
        reason: 'FailedMount',
        message: `MountVolume.SetUp failed: ${message}`,
      });
    return requeueAfter(seconds);
  }

  async #prepare(pod: Pod): Promise<void> {
    const { directory } = this.#options;
    const { directoryOfPvc } = this.#lookup;
    this.#volumes = await makeVolumes({ pod, directory, lookup: this.#lookup, directoryOfPvc });
    this.#network ??= await this.#options.makeNetwork();
    if (this.#runners.size > 0) return;
    const now = formatTime(new Date());
    for (const spec of containersOf(pod)) this.#runners.set(spec.name, this.#runnerFor(pod, spec, now));
  }

  #runnerFor(pod: Pod, spec: ContainerSpec, now: string): ContainerRunner {
    const { sandbox, directory, recordEvent, onChange } = this.#options;
    const podAddress = this.#network?.address ?? '';
    const own = join(directory, 'containers', spec.name);
    return new ContainerRunner(
      { sandbox, directory: own, podAddress, recordEvent, onChange },
      seedView(pod, spec, now),
    );
  }

  #replace(pod: Pod, spec: ContainerSpec): void {
    const message = `Container ${spec.name} definition changed, will be restarted`;
    this.#options.recordEvent({ type: 'Normal', reason: 'Killing', message });
    void this.#runners.get(spec.name)?.stop(spec, pod.spec?.terminationGracePeriodSeconds ?? 30);
  }

  async #start(pod: Pod, spec: ContainerSpec): Promise<void> {
    const runner = this.#runners.get(spec.name);
    const network = this.#network;
    if (runner === undefined || network === undefined) return;
    const { recordEvent, findImage, clusterEnvironment, directory } = this.#options;
    const image = await findImage(spec.image ?? '').catch((thrown: unknown) => this.#pullFailed(runner, spec, thrown));
    if (image === undefined) return;
    this.#failedPulls.delete(spec.name);
    try {
      const etc = await writeEtc(directory, pod, network.address);
      const terminationFile = runner.terminationFile;
      const context = { pod, image, network, etc, terminationFile, volumes: this.#volumes, lookup: this.#lookup };
      const plan = await startPlan(spec, { ...context, clusterEnvironment: clusterEnvironment() });
      await runner.start(spec, plan);
      recordEvent({ type: 'Normal', reason: 'Started', message: `Container started: ${spec.name}` });
    } catch (thrown) {
      const message = startFailure(thrown);
      recordEvent({ type: 'Warning', reason: 'Failed', message: `Error: ${message}` });
      const retryAt = Date.now() + retrySeconds * 1000;
      runner.hold(spec.image ?? '', { reason: 'CreateContainerConfigError', message, retryAt });
    }
  }

  #pullFailed(runner: ContainerRunner, spec: ContainerSpec, thrown: unknown): undefined {
    const failures = this.#failedPulls.get(spec.name) ?? 0;
    this.#failedPulls.set(spec.name, failures + 1);
    const seconds = pullBackoffSeconds[Math.min(failures, pullBackoffSeconds.length - 1)] ?? 10;
    const error = Failure.from(thrown).message;
    const image = spec.image ?? '';
    const isFirst = failures === 0;
    const reason = isFirst ? 'ErrImagePull' : 'ImagePullBackOff';
    const message = isFirst ? error : `Back-off pulling image "${image}": ErrImagePull: ${error}`;
    this.#options.recordEvent({
      type: 'Warning',
      reason: 'Failed',
      message: `Failed to pull image "${image}": ${error}`,
    });
    runner.hold(image, { reason, message, retryAt: Date.now() + (isFirst ? retrySeconds : seconds) * 1000 });
    return undefined;
  }
}

export const containersOf = ({ spec }: Pod): readonly ContainerSpec[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
];
