import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { KubeClient } from '../kube/client.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { EventRecorder } from '../runtime/events.ts';
import { type Runnable, runTogether } from '../runtime/manager.ts';
import { whenSynced } from '../runtime/reflector.ts';
import type { Failure } from '../std/failure.ts';
import { whenAborted } from '../std/when-aborted.ts';
import { type LabStores, labCaches } from './caches.ts';
import { controllers } from './controllers/controllers.ts';
import { isReadyNode } from './controllers/place.ts';
import { Ground } from './ground/ground.ts';
import { Addresses, layout } from './network/addresses.ts';
import { dnsServer } from './network/dns-server.ts';
import { HostPorts } from './network/host-ports.ts';
import { namesOf } from './network/names.ts';
import { PodNetworks } from './network/pod-network.ts';
import { ServiceRelays, type Way, waysOf } from './network/service-relays.ts';
import { heartbeat } from './node/heartbeat.ts';
import type { FindImage } from './node/image/image.ts';
import { Kubelet } from './node/kubelet.ts';

export interface LabOptions {
  readonly client: KubeClient;
  /** Where the API server is on this machine, for pods that speak to it. */
  readonly api: { readonly host: string; readonly port: number };
  readonly nodes: number;
  /** Everything the lab keeps. */
  readonly state: string;
  readonly findImage: FindImage;
  /** Where compiled sources are kept. */
  readonly compiled?: string;
  readonly timing?: Partial<Timing>;
  readonly onTrouble: (failure: Failure) => void;
}

export interface Timing {
  /** How often a node shows that it is alive, and after what silence it is given up. */
  readonly heartbeatSeconds: number;
  readonly graceSeconds: number;
}

const defaultTiming: Timing = { heartbeatSeconds: 5, graceSeconds: 20 };

/** A lab that runs: nodes, network and controllers, all of them clients of one API server. */
export interface Lab {
  readonly kubelets: readonly Kubelet[];
  readonly stores: LabStores;
  /** A connection to an address inside the lab. */
  readonly dial: (host: string, port: number) => Promise<Socket>;
  /** Runs until told to stop; everything inside the lab then ends. */
  readonly run: Runnable;
}

export async function openLab(options: LabOptions): Promise<Lab> {
  const { client, onTrouble, state, compiled } = options;
  await rm(join(state, 'run'), { recursive: true, force: true });
  const ground = await Ground.open({ gateway: layout.gatewayWithPrefix, services: layout.services, compiled });
  const { stores, reflectors } = labCaches({ client, clock, onTrouble });
  const kubelets = kubeletsOf(options, ground, stores);
  const relays = new ServiceRelays(ground, new HostPorts(state), onTrouble);
  const parts = { options, ground, stores, kubelets, relays };
  const watching = [
    ...reflectors.map(
      (each): Runnable =>
        (stop) =>
          each.run(stop),
    ),
    ...heartbeatsOf(parts),
  ];
  const working: Runnable = async (stop) => {
    if (await whenSynced(reflectors, stop)) await runTogether(workOf(parts), stop);
  };
  const ending: Runnable = (stop) => endOf(ground, stop);
  return {
    kubelets,
    stores,
    dial: (host, port) => ground.dial(host, port),
    run: async (signal) => {
      try {
        await runTogether([...watching, working, ending], signal);
      } finally {
        await Promise.all(kubelets.map((kubelet) => kubelet.quit()));
        relays.close();
        await ground.close();
      }
    },
  };
}

interface Parts {
  readonly options: LabOptions;
  readonly ground: Ground;
  readonly stores: LabStores;
  readonly kubelets: readonly Kubelet[];
  readonly relays: ServiceRelays;
}

const volumesIn = (state: string): string => join(state, 'volumes');

const timingOf = ({ timing }: LabOptions): Timing => ({ ...defaultTiming, ...timing });

const heartbeatsOf = ({ options, stores, kubelets }: Parts): readonly Runnable[] =>
  kubelets.map((kubelet, index) =>
    heartbeat({
      ...{ client: options.client, clock, kubelet, number: index + 1, onTrouble: options.onTrouble },
      everySeconds: timingOf(options).heartbeatSeconds,
      isKnownReady: () => isReadyNode(stores.nodes.get(kubelet.name)),
    }),
  );

/** What begins when all is known that the API server has. */
function workOf({ options, ground, stores, kubelets, relays }: Parts): readonly Runnable[] {
  const { client, onTrouble, state, api } = options;
  const recorder = new EventRecorder({ client, clock, component: 'lab', instance: 'lab', onTrouble });
  const settings = { graceSeconds: timingOf(options).graceSeconds, volumes: volumesIn(state) };
  return [
    ...kubelets.map((kubelet) => kubelet.run),
    ...controllers({ client, clock, stores, recorder, onTrouble }, settings),
    dnsServer(ground, remembered(stores)),
    relaying(relays, stores, api),
  ];
}

/** The lab is over when its ground is gone, whoever ended that. */
async function endOf(ground: Ground, stop: AbortSignal): Promise<void> {
  const which = await Promise.race([whenAborted(stop).then(() => 'stopped'), ground.ended]);
  if (which !== 'stopped') throw new Error("the first process of the lab's namespaces ended");
}

function kubeletsOf(options: LabOptions, ground: Ground, stores: LabStores): readonly Kubelet[] {
  const { client, findImage, state, onTrouble } = options;
  const addresses = new Addresses();
  const networks = new PodNetworks(ground, join(state, 'run', 'networks'));
  const clusterEnvironment = (): Readonly<Record<string, string>> => apiEnvironment(stores);
  return Array.from({ length: options.nodes }, (_, index) => {
    const name = `node${index + 1}`;
    const directory = join(state, 'nodes', name, 'pods');
    const shared = { client, pods: stores.pods, clock, ground, networks, addresses, findImage, onTrouble };
    return new Kubelet({
      ...shared,
      name,
      number: index + 1,
      clusterEnvironment,
      directory,
      volumes: volumesIn(state),
    });
  });
}

/** How pods find the API server. */
function apiEnvironment({ services }: LabStores): Readonly<Record<string, string>> {
  const host = services.get('default/kubernetes')?.spec?.clusterIP;
  if (host === undefined) return {};
  return { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: '443', KUBERNETES_SERVICE_PORT_HTTPS: '443' };
}

/** The names of the cluster, written down anew only when something has changed. */
function remembered(stores: LabStores): () => ReturnType<typeof namesOf> {
  let names: ReturnType<typeof namesOf> | undefined;
  const forget = (): void => (names = undefined);
  stores.services.onChange(forget);
  stores.slices.onChange(forget);
  return () => (names ??= namesOf({ services: stores.services.all(), slices: stores.slices.all() }));
}

/** Keeps the relays as the services are. The API server itself is not a pod: it is on this machine. */
function relaying(relays: ServiceRelays, stores: LabStores, api: LabOptions['api']): Runnable {
  const toApi = (way: Way): Way =>
    way.host === stores.services.get('default/kubernetes')?.spec?.clusterIP
      ? { ...way, targets: [{ address: api.host, port: api.port, isOutside: true }] }
      : way;
  const update = (): void => relays.update(waysOf(stores.services.all(), stores.slices.all()).map((way) => toApi(way)));
  return async (signal) => {
    const ends = [stores.services.onChange(update), stores.slices.onChange(update)];
    await whenAborted(signal);
    for (const end of ends) end();
  };
}
