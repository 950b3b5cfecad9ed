import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../../kube/client.ts';
import type { Pod } from '../../../kube/object.ts';
import type { Told } from '../../../runtime/events.ts';
import { again, done, type Outcome } from '../../../runtime/outcome.ts';
import { Failure } from '../../../std/failure.ts';
import type { Ground } from '../../ground/ground.ts';
import type { PodNetwork } from '../../network/pod-network.ts';
import type { ContainerSpec } from '../container/environment.ts';
import type { FindImage } from '../image/image.ts';
import { makeVolumes, mayChange } from '../volumes/volumes.ts';
import { ApiLookup } from './api-lookup.ts';
import { writeEtc } from './etc.ts';
import { planPod } from './plan.ts';
import { seedView } from './seed.ts';
import { Slot, startFailure } from './slot.ts';
import { startPlan } from './start-plan.ts';
import { timeOf } from './status.ts';
import type { Views } from './view.ts';

export interface RunnerOptions {
  readonly client: KubeClient;
  readonly ground: Ground;
  readonly findImage: FindImage;
  readonly clusterEnvironment: () => Readonly<Record<string, string>>;
  /** The pod's own directory. */
  readonly directory: string;
  /** Where the lab keeps its persistent volumes. */
  readonly volumes: string;
  readonly join: () => Promise<PodNetwork>;
  readonly leave: (network: PodNetwork) => Promise<void>;
  readonly tell: (told: Told) => void;
  readonly onChange: () => void;
}

/** How soon something is tried again that could not be had. */
const retrySeconds = 2;
const firstRetrySeconds = 0.1;
/** How soon after a failed pull the wait shows as such. */
const pullBackoffSeconds = [10, 20, 40, 80, 160, 300];
/** How often the files of Secrets, ConfigMaps and tokens are brought up to date. */
const refreshSeconds = 30;

/** One pod on its node: its network, its volumes and its containers. */
export class PodRunner {
  readonly #options: RunnerOptions;
  readonly #lookup: ApiLookup;
  readonly #slots = new Map<string, Slot>();
  readonly #pulls = new Map<string, number>();
  #network: PodNetwork | undefined;
  #volumes: Readonly<Record<string, string>> = {};
  #stopping: Promise<void> | undefined;
  /** How often in a row the volumes or the network could not be had. */
  #unprepared = 0;

  constructor(options: RunnerOptions, pod: Pod) {
    this.#options = options;
    this.#lookup = new ApiLookup(options.client, pod, options.volumes);
  }

  get address(): string | undefined {
    return this.#network?.address;
  }

  get views(): Views {
    return Object.fromEntries([...this.#slots].map(([name, slot]) => [name, slot.view]));
  }

  slot(container: string): Slot | undefined {
    return this.#slots.get(container);
  }

  /** Brings the pod closer to what its spec says; what takes long is told by `onChange` when it is done. */
  async sync(pod: Pod): Promise<Outcome> {
    try {
      await this.#prepare(pod);
      this.#unprepared = 0;
    } catch (thrown) {
      return this.#notPrepared(Failure.from(thrown));
    }
    const plan = planPod(pod.spec ?? { containers: [] }, this.views, Date.now());
    for (const spec of plan.stop) this.#replace(pod, spec);
    await Promise.all(plan.start.map((spec) => this.#start(pod, spec)));
    const waits = plan.lookAgainAt === undefined ? [] : [(plan.lookAgainAt - Date.now()) / 1000];
    if (mayChange(pod)) waits.push(refreshSeconds);
    return waits.length === 0 ? done : again(Math.max(0.05, Math.min(...waits)));
  }

  /** Stops all containers within the time the pod has; kept when the last has ended. */
  stop(pod: Pod, graceSeconds: number): Promise<void> {
    this.#stopping ??= Promise.all(
      containersOf(pod).map(async (spec) => {
        const slot = this.#slots.get(spec.name);
        if (slot?.view.state.is !== 'running') return;
        this.#options.tell({ type: 'Normal', reason: 'Killing', message: `Stopping container ${spec.name}` });
        await slot.stop(spec, graceSeconds);
      }),
    ).then(() => this.#options.onChange());
    return this.#stopping;
  }

  get isRunning(): boolean {
    return [...this.#slots.values()].some(({ view }) => view.state.is === 'running');
  }

  /** Ends everything because the lab ends; the pod goes on when the lab does. */
  async quit(graceSeconds: number): Promise<void> {
    await Promise.all([...this.#slots.values()].map((slot) => slot.quit(graceSeconds)));
  }

  /** Ends everything at once, as a cut of power would. */
  async kill(): Promise<void> {
    await Promise.all([...this.#slots.values()].map((slot) => slot.kill()));
  }

  /** Gives back the network; the pod is over. */
  async leave(): Promise<void> {
    const network = this.#network;
    this.#network = undefined;
    if (network !== undefined) await this.#options.leave(network);
  }

  /** Leaves nothing of the pod on this node. */
  async remove(): Promise<void> {
    await this.kill();
    await this.leave();
    await rm(this.#options.directory, { recursive: true, force: true });
  }

  /** A claim is bound in a moment, as a rule: there is nothing to tell before it has taken a while. */
  #notPrepared({ message }: Failure): Outcome {
    const seconds = Math.min(retrySeconds, firstRetrySeconds * 2 ** this.#unprepared++);
    if (seconds === retrySeconds)
      this.#options.tell({ type: 'Warning', reason: 'FailedMount', message: `MountVolume.SetUp failed: ${message}` });
    return again(seconds);
  }

  async #prepare(pod: Pod): Promise<void> {
    const { directory } = this.#options;
    const { claimed } = this.#lookup;
    this.#volumes = await makeVolumes({ pod, directory, lookup: this.#lookup, claimed });
    this.#network ??= await this.#options.join();
    if (this.#slots.size > 0) return;
    const now = timeOf(new Date());
    for (const spec of containersOf(pod)) this.#slots.set(spec.name, this.#slotFor(pod, spec, now));
  }

  #slotFor(pod: Pod, spec: ContainerSpec, now: string): Slot {
    const { ground, directory, tell, onChange } = this.#options;
    const podAddress = this.#network?.address ?? '';
    const own = join(directory, 'containers', spec.name);
    return new Slot({ ground, directory: own, podAddress, tell, onChange }, seedView(pod, spec, now));
  }

  #replace(pod: Pod, spec: ContainerSpec): void {
    const message = `Container ${spec.name} definition changed, will be restarted`;
    this.#options.tell({ type: 'Normal', reason: 'Killing', message });
    void this.#slots.get(spec.name)?.stop(spec, pod.spec?.terminationGracePeriodSeconds ?? 30);
  }

  async #start(pod: Pod, spec: ContainerSpec): Promise<void> {
    const slot = this.#slots.get(spec.name);
    const network = this.#network;
    if (slot === undefined || network === undefined) return;
    const { tell, findImage, clusterEnvironment, directory } = this.#options;
    const image = await findImage(spec.image ?? '').catch((thrown: unknown) => this.#pullFailed(slot, spec, thrown));
    if (image === undefined) return;
    this.#pulls.delete(spec.name);
    try {
      const etc = await writeEtc(directory, pod, network.address);
      const terminationFile = slot.terminationFile;
      const around = { pod, image, network, etc, terminationFile, volumes: this.#volumes, lookup: this.#lookup };
      const plan = await startPlan(spec, { ...around, clusterEnvironment: clusterEnvironment() });
      await slot.start(spec, plan);
      tell({ type: 'Normal', reason: 'Started', message: `Container started: ${spec.name}` });
    } catch (thrown) {
      const message = startFailure(thrown);
      tell({ type: 'Warning', reason: 'Failed', message: `Error: ${message}` });
      const retryAt = Date.now() + retrySeconds * 1000;
      slot.hold(spec.image ?? '', { reason: 'CreateContainerConfigError', message, retryAt });
    }
  }

  #pullFailed(slot: Slot, spec: ContainerSpec, thrown: unknown): undefined {
    const failures = this.#pulls.get(spec.name) ?? 0;
    this.#pulls.set(spec.name, failures + 1);
    const seconds = pullBackoffSeconds[Math.min(failures, pullBackoffSeconds.length - 1)] ?? 10;
    const says = Failure.from(thrown).message;
    const image = spec.image ?? '';
    const isFirst = failures === 0;
    const reason = isFirst ? 'ErrImagePull' : 'ImagePullBackOff';
    const message = isFirst ? says : `Back-off pulling image "${image}": ErrImagePull: ${says}`;
    this.#options.tell({ type: 'Warning', reason: 'Failed', message: `Failed to pull image "${image}": ${says}` });
    slot.hold(image, { reason, message, retryAt: Date.now() + (isFirst ? retrySeconds : seconds) * 1000 });
    return undefined;
  }
}

export const containersOf = ({ spec }: Pod): readonly ContainerSpec[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
];
