import type { Server, Socket } from 'node:net';
import { connect } from 'node:net';
import { type EndpointSlice, keyOf as objectKey, type Service } from '../../src/kube/object.ts';
import { Failure } from '../../src/std/failure.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { HostPorts } from './host-ports.ts';

/** One port of a Service, and the endpoints behind it. */
export interface Route {
  /** Namespace and name of the Service. */
  readonly service: string;
  readonly host: string;
  readonly port: number;
  readonly targets: readonly RelayTarget[];
}

export interface RelayTarget {
  readonly address: string;
  readonly port: number;
  /** True if the target is on the host, not in the sandbox. */
  readonly isOnHost?: boolean;
}

/** The routes of all Services with a cluster IP: one for each TCP port. */
export function routesOf(services: readonly Service[], slices: readonly EndpointSlice[]): readonly Route[] {
  return services.flatMap((service) => {
    const host = service.spec?.clusterIP;
    if (host === undefined || host === '' || host === 'None') return [];
    return (service.spec?.ports ?? [])
      .filter(({ protocol = 'TCP' }) => protocol === 'TCP')
      .map(({ name, port }) => ({
        service: objectKey(service.metadata),
        host,
        port,
        targets: targetsOf(service, slices, name),
      }));
  });
}

const targetsOf = (
  service: Service,
  slices: readonly EndpointSlice[],
  portName: string | undefined,
): readonly RelayTarget[] =>
  slices
    .filter(
      ({ metadata }) =>
        metadata.namespace === service.metadata.namespace &&
        metadata.labels?.['kubernetes.io/service-name'] === service.metadata.name,
    )
    .flatMap(({ endpoints, ports }) => {
      const port = (ports ?? []).find(({ name = '' }) => name === (portName ?? ''))?.port;
      const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
      return port === undefined
        ? []
        : ready.flatMap(({ addresses }) => addresses.map((address) => ({ address, port })));
    });

/** Makes Services reachable: at their cluster IPs for pods, and at a loopback port each for programs on this host. */
export class ServiceRelays {
  readonly #inside: Relays;
  readonly #fromHost: Relays;
  readonly #ports: HostPorts;

  constructor(sandbox: Sandbox, ports: HostPorts, onFailure: (failure: Failure) => void) {
    const shared = { sandbox, onFailure };
    this.#ports = ports;
    this.#inside = new Relays({
      ...shared,
      keyOf: ({ host, port }) => `${host}:${port}`,
      listen: ({ host, port }) => sandbox.listen(host, port),
    });
    this.#fromHost = new Relays({ ...shared, keyOf: hostPortKey, listen: (route) => ports.listen(hostPortKey(route)) });
  }

  /** Replaces all routes. */
  update(routes: readonly Route[]): void {
    // A target on the host, such as the API server, needs no host port.
    const intoSandbox = routes.filter(({ targets }) => targets.every(({ isOnHost }) => isOnHost !== true));
    this.#ports.keepOnly(new Set(intoSandbox.map(hostPortKey)));
    this.#inside.update(routes);
    this.#fromHost.update(intoSandbox);
  }

  close(): void {
    for (const relays of [this.#inside, this.#fromHost]) relays.update([]);
  }
}

const hostPortKey = ({ service, port }: Route): string => `${service}:${port}`;

interface RelaysOptions {
  readonly sandbox: Sandbox;
  /** The key of a listener. A listener stays open as long as a route has its key. */
  readonly keyOf: (route: Route) => string;
  readonly listen: (route: Route) => Promise<Server>;
  readonly onFailure: (failure: Failure) => void;
}

/** Listens for all routes and relays each connection to one of the endpoints, in turn. */
class Relays {
  readonly #options: RelaysOptions;
  readonly #servers = new Map<string, Promise<Server | undefined>>();
  #routes = new Map<string, Route>();
  #nextTarget = 0;

  constructor(options: RelaysOptions) {
    this.#options = options;
  }

  update(routes: readonly Route[]): void {
    this.#routes = new Map(routes.map((route) => [this.#options.keyOf(route), route]));
    for (const [key, server] of this.#servers) {
      if (this.#routes.has(key)) continue;
      this.#servers.delete(key);
      void server.then((opened) => opened?.close());
    }
    for (const [key, route] of this.#routes)
      if (!this.#servers.has(key)) this.#servers.set(key, this.#open(key, route));
  }

  async #open(key: string, route: Route): Promise<Server | undefined> {
    try {
      const server = await this.#options.listen(route);
      server.on('connection', (socket: Socket) => this.#relay(key, socket));
      return server;
    } catch (thrown) {
      this.#servers.delete(key);
      this.#options.onFailure(Failure.from(thrown));
      return undefined;
    }
  }

  #relay(key: string, from: Socket): void {
    from.on('error', () => from.destroy());
    const targets = this.#routes.get(key)?.targets ?? [];
    const target = targets[this.#nextTarget++ % Math.max(1, targets.length)];
    if (target === undefined) return void from.resetAndDestroy();
    const opening =
      target.isOnHost === true ? connectOnHost(target) : this.#options.sandbox.dial(target.address, target.port);
    opening.then(
      (to) => pipeBoth(from, to),
      () => from.resetAndDestroy(),
    );
  }
}

function connectOnHost({ address, port }: RelayTarget): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}

/** Pipes two sockets into each other. If one closes, so does the other. */
export function pipeBoth(a: Socket, b: Socket): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}
