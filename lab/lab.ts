import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { KubeClient } from '../src/kube/client.ts';
import { systemClock as clock } from '../src/runtime/clock.ts';
import { EventRecorder } from '../src/runtime/events.ts';
import { type Runnable, runTogether } from '../src/runtime/manager.ts';
import { whenSynced } from '../src/runtime/reflector.ts';
import type { Failure } from '../src/std/failure.ts';
import { whenAborted } from '../src/std/when-aborted.ts';
import { type LabStores, labCaches } from './caches.ts';
import { controllers } from './controllers/controllers.ts';
import { isReadyNode } from './controllers/placement.ts';
import { heartbeat } from './kubelet/heartbeat.ts';
import type { FindImage } from './kubelet/image/image.ts';
import { Kubelet } from './kubelet/kubelet.ts';
import { Addresses, layout } from './network/addresses.ts';
import { dnsServer } from './network/dns-server.ts';
import { HostPorts } from './network/host-ports.ts';
import { namesOf } from './network/names.ts';
import { PodNetworks } from './network/pod-network.ts';
import { type Route, routesOf, ServiceRelays } from './network/service-relays.ts';
import { Sandbox } from './sandbox/sandbox.ts';

export interface LabOptions {
  readonly client: KubeClient;
  /** The host and port of the API server, for pods that connect to it. */
  readonly api: { readonly host: string; readonly port: number };
  readonly nodes: number;
  /** The state directory. */
  readonly state: string;
  readonly findImage: FindImage;
  /** The directory of Node's compile cache. */
  readonly compiled?: string;
  readonly timing?: Partial<Timing>;
  readonly onFailure: (failure: Failure) => void;
}

export interface Timing {
  /** The interval of node heartbeats, and the silence after which a node is not ready. */
  readonly heartbeatSeconds: number;
  readonly graceSeconds: number;
}

const defaultTiming: Timing = { heartbeatSeconds: 5, graceSeconds: 20 };

/** A running lab: kubelets, network and controllers, all clients of one API server. */
export interface Lab {
  readonly kubelets: readonly Kubelet[];
  readonly stores: LabStores;
  /** Opens a connection to an address inside the sandbox. */
  readonly dial: (host: string, port: number) => Promise<Socket>;
  /** Runs until the signal aborts, then ends every process in the sandbox. */
  readonly run: Runnable;
}

export async function openLab(options: LabOptions): Promise<Lab> {
  const { client, onFailure, state, compiled } = options;
  await rm(join(state, 'run'), { recursive: true, force: true });
  const sandbox = await Sandbox.open({ gateway: layout.gatewayWithPrefix, services: layout.services, compiled });
  const { stores, reflectors } = labCaches({ client, clock, onFailure });
  const kubelets = kubeletsOf(options, sandbox, stores);
  const relays = new ServiceRelays(sandbox, new HostPorts(state), onFailure);
  const parts = { options, sandbox, stores, kubelets, relays };
  const startAtOnce = [
    ...reflectors.map(
      (each): Runnable =>
        (stop) =>
          each.run(stop),
    ),
    ...heartbeatsOf(parts),
  ];
  const startAfterSync: Runnable = async (stop) => {
    if (await whenSynced(reflectors, stop)) await runTogether(runnablesAfterSync(parts), stop);
  };
  const sandboxWatch: Runnable = (stop) => failIfSandboxEnds(sandbox, stop);
  return {
    kubelets,
    stores,
    dial: (host, port) => sandbox.dial(host, port),
    run: async (signal) => {
      try {
        await runTogether([...startAtOnce, startAfterSync, sandboxWatch], signal);
      } finally {
        await Promise.all(kubelets.map((kubelet) => kubelet.quit()));
        relays.close();
        await sandbox.close();
      }
    },
  };
}

interface Parts {
  readonly options: LabOptions;
  readonly sandbox: Sandbox;
  readonly stores: LabStores;
  readonly kubelets: readonly Kubelet[];
  readonly relays: ServiceRelays;
}

const volumesIn = (state: string): string => join(state, 'volumes');

const timingOf = ({ timing }: LabOptions): Timing => ({ ...defaultTiming, ...timing });

const heartbeatsOf = ({ options, stores, kubelets }: Parts): readonly Runnable[] =>
  kubelets.map((kubelet, index) =>
    heartbeat({
      client: options.client,
      clock,
      kubelet,
      number: index + 1,
      onFailure: options.onFailure,
      everySeconds: timingOf(options).heartbeatSeconds,
      isNodeReady: () => isReadyNode(stores.nodes.get(kubelet.name)),
    }),
  );

/** What starts after all caches have synced. */
function runnablesAfterSync({ options, sandbox, stores, kubelets, relays }: Parts): readonly Runnable[] {
  const { client, onFailure, state, api } = options;
  const recorder = new EventRecorder({ client, clock, component: 'lab', instance: 'lab', onFailure });
  const settings = { graceSeconds: timingOf(options).graceSeconds, volumes: volumesIn(state) };
  return [
    ...kubelets.map((kubelet) => kubelet.run),
    ...controllers({ client, clock, stores, recorder, onFailure }, settings),
    dnsServer(sandbox, cachedNames(stores)),
    updateRelays(relays, stores, api),
  ];
}

/** Fails when the sandbox ends before the lab is stopped. */
async function failIfSandboxEnds(sandbox: Sandbox, stop: AbortSignal): Promise<void> {
  const first = await Promise.race([whenAborted(stop).then(() => 'stopped'), sandbox.ended]);
  if (first !== 'stopped') throw new Error("the first process of the lab's namespaces ended");
}

function kubeletsOf(options: LabOptions, sandbox: Sandbox, stores: LabStores): readonly Kubelet[] {
  const { client, findImage, state, onFailure } = options;
  const addresses = new Addresses();
  const networks = new PodNetworks(sandbox, join(state, 'run', 'networks'));
  const clusterEnvironment = (): Readonly<Record<string, string>> => apiEnvironment(stores);
  return Array.from({ length: options.nodes }, (_, index) => {
    const name = `node${index + 1}`;
    const directory = join(state, 'nodes', name, 'pods');
    const shared = { client, pods: stores.pods, clock, sandbox, networks, addresses, findImage, onFailure };
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

/** The environment variables with the address of the API server. */
function apiEnvironment({ services }: LabStores): Readonly<Record<string, string>> {
  const host = services.get('default/kubernetes')?.spec?.clusterIP;
  if (host === undefined) return {};
  return { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: '443', KUBERNETES_SERVICE_PORT_HTTPS: '443' };
}

/** The DNS names of the cluster, recomputed only after a Service or EndpointSlice changed. */
function cachedNames(stores: LabStores): () => ReturnType<typeof namesOf> {
  let names: ReturnType<typeof namesOf> | undefined;
  const forget = (): void => (names = undefined);
  stores.services.onChange(forget);
  stores.slices.onChange(forget);
  return () => (names ??= namesOf({ services: stores.services.all(), slices: stores.slices.all() }));
}

/**
 * Updates the relays when Services or EndpointSlices change. Service default/kubernetes leads to the API server on the
 * host.
 */
function updateRelays(relays: ServiceRelays, stores: LabStores, api: LabOptions['api']): Runnable {
  const toApi = (route: Route): Route =>
    route.host === stores.services.get('default/kubernetes')?.spec?.clusterIP
      ? { ...route, targets: [{ address: api.host, port: api.port, isOnHost: true }] }
      : route;
  const update = (): void => relays.update(routesOf(stores.services.all(), stores.slices.all()).map(toApi));
  return async (signal) => {
    const unsubscribes = [stores.services.onChange(update), stores.slices.onChange(update)];
    await whenAborted(signal);
    for (const unsubscribe of unsubscribes) unsubscribe();
  };
}
