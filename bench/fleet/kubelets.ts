import type { HttpKubeClient } from '../../src/kube/http-client.ts';
import { keyOf, type Pod, type Stored } from '../../src/kube/object.ts';
import { pods } from '../../src/kube/resource.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Reflector } from '../../src/runtime/reflector.ts';
import { byOwner, type Change } from '../../src/runtime/store.ts';
import type { Failure } from '../../src/std/failure.ts';
import type { StandInEtcd } from './etcd.ts';
import { StandInCluster } from './etcd-cluster.ts';

/** The index of pods by the UID of their cluster. */
export const ownerIndex = 'owner';

const initialClusterKey = /\/initial-cluster$/;

/** A pod that a stand-in kubelet runs. */
interface Running {
  readonly address: string;
  readonly cluster: StandInCluster;
  readonly id: bigint;
  image: string;
  restarts: number;
}

/** All kubelets of the fleet: every new pod gets a loopback address and is ready at once; a new image starts at once. */
export class StandInKubelets {
  readonly pods: Reflector<Pod>;
  readonly #client: HttpKubeClient;
  readonly #etcd: StandInEtcd;
  /** By the UID of the pod's owner, or by the label of the member's cluster. */
  readonly #clusters = new Map<string, StandInCluster>();
  readonly #running = new Map<string, Running>();
  readonly #failures: Failure[] = [];
  #addresses = 0;

  constructor(client: HttpKubeClient, etcd: StandInEtcd) {
    this.#client = client;
    this.#etcd = etcd;
    const indexes = { [ownerIndex]: byOwner };
    const onFailure = (failure: Failure): void => void this.#failures.push(failure);
    this.pods = new Reflector<Pod>({ client, resource: pods, clock: systemClock, onFailure, indexes });
    this.pods.store.onChange((change) => this.#see(change));
  }

  get failures(): readonly Failure[] {
    return this.#failures;
  }

  /** The stand-in etcd of a cluster. */
  clusterOf(uid: string): StandInCluster | undefined {
    return this.#clusters.get(uid);
  }

  /** Drops the stand-in etcd of a deleted cluster. */
  forget(uid: string): void {
    this.#clusters.delete(uid);
  }

  #see({ type, object }: Change<Pod>): void {
    const running = this.#running.get(object.metadata.uid);
    if (type === 'deleted' || object.metadata.deletionTimestamp !== undefined) this.#stop(object.metadata.uid);
    else if (running === undefined) this.#start(object);
    else if (running.image !== imageOf(object)) this.#restart(object, running);
  }

  #start(pod: Stored<Pod>): void {
    const { annotations = {}, ownerReferences = [], uid } = pod.metadata;
    const owner = ownerReferences[0]?.uid ?? keyOf(pod.metadata).replace(/-\d+$/, '');
    const cluster = this.#clusters.get(owner) ?? new StandInCluster();
    this.#clusters.set(owner, cluster);
    const [, initialCluster = ''] = Object.entries(annotations).find(([key]) => initialClusterKey.test(key)) ?? [];
    const image = imageOf(pod);
    const id = cluster.start(nameOf(pod), { initialCluster, version: versionIn(image) });
    const address = addressOf(++this.#addresses);
    this.#etcd.place(address, { cluster, id });
    const running = { address, cluster, id, image, restarts: 0 };
    this.#running.set(uid, running);
    this.#report(pod, running);
  }

  #restart(pod: Stored<Pod>, running: Running): void {
    running.image = imageOf(pod);
    running.restarts++;
    const version = versionIn(running.image);
    running.cluster.stop(running.id);
    running.cluster.start(nameOf(pod), { initialCluster: '', version });
    this.#report(pod, running);
  }

  #stop(uid: string): void {
    const running = this.#running.get(uid);
    if (running === undefined) return;
    this.#running.delete(uid);
    this.#etcd.leave(running.address);
    running.cluster.stop(running.id);
  }

  #report(pod: Stored<Pod>, running: Running): void {
    const body = { status: statusOf(pod, running) };
    const patched = this.#client.patch(pods, pod.metadata, { type: 'merge', subresource: 'status', body });
    patched.catch((failure: Failure) => failure.kind === 'not-found' || this.#failures.push(failure));
  }
}

const etcdOf = ({ spec }: Pod) => spec?.containers.find(({ name }) => name === 'etcd');
const imageOf = (pod: Pod): string => etcdOf(pod)?.image ?? '';
const nameOf = ({ metadata, spec }: Pod): string => spec?.hostname ?? metadata.name;
const versionIn = (image: string): string => /:v?(\d+\.\d+\.\d+)/.exec(image)?.[1] ?? '';

/** 127.1.0.1 and the following. */
const addressOf = (count: number): string =>
  `127.${1 + Math.floor(count / 64_516)}.${Math.floor(count / 254) % 254}.${(count % 254) + 1}`;

function statusOf(pod: Pod, { address, image, restarts }: Running): Pod['status'] {
  const now = new Date().toISOString().replace(/\.\d+/, '');
  const met = (type: string) => ({ type, status: 'True', lastTransitionTime: now });
  const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(met);
  const state = { running: { startedAt: now } };
  const common = {
    ready: true,
    started: true,
    restartCount: restarts,
    imageID: image,
    containerID: `fleet://${address}`,
  };
  const containerStatuses = (pod.spec?.containers ?? []).map(({ name }) => ({ name, image, state, ...common }));
  const addresses = { podIP: address, podIPs: [{ ip: address }], hostIP: '127.0.0.1', hostIPs: [{ ip: '127.0.0.1' }] };
  return { phase: 'Running', ...addresses, startTime: now, conditions, containerStatuses };
}
