import type { Server, Socket } from 'node:net';
import { connect } from 'node:net';
import { keyOf, type Service } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import type { Ground } from '../ground/ground.ts';
import type { EndpointSlice } from '../kinds.ts';
import type { HostPorts } from './host-ports.ts';

/** One address and port of a service, and where connections to it go. */
export interface Way {
  /** Whose it is: namespace and name. */
  readonly service: string;
  readonly host: string;
  readonly port: number;
  readonly targets: readonly Target[];
}

export interface Target {
  readonly address: string;
  readonly port: number;
  /** Outside of the ground: on this machine itself. */
  readonly isOutside?: boolean;
}

/** The ways that the services of a cluster open: one for each port of each service that has an address of its own. */
export function waysOf(services: readonly Service[], slices: readonly EndpointSlice[]): readonly Way[] {
  return services.flatMap((service) => {
    const host = service.spec?.clusterIP;
    if (host === undefined || host === '' || host === 'None') return [];
    return (service.spec?.ports ?? [])
      .filter(({ protocol = 'TCP' }) => protocol === 'TCP')
      .map(({ name, port }) => ({
        service: keyOf(service.metadata),
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
): readonly Target[] =>
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

/** Makes services reachable: under their own addresses for pods, and on a port of each one's own for this machine. */
export class ServiceRelays {
  readonly #inside: Relays;
  readonly #fromHost: Relays;
  readonly #ports: HostPorts;

  constructor(ground: Ground, ports: HostPorts, onTrouble: (failure: Failure) => void) {
    const shared = { ground, onTrouble };
    this.#ports = ports;
    this.#inside = new Relays({
      ...shared,
      nameOf: ({ host, port }) => `${host}:${port}`,
      listen: ({ host, port }) => ground.listen(host, port),
    });
    this.#fromHost = new Relays({ ...shared, nameOf, listen: (way) => ports.listen(nameOf(way)) });
  }

  /** From now on these are the ways, and no others. */
  update(ways: readonly Way[]): void {
    // What is on this machine anyway, as the API server is, needs no second port there.
    const intoTheLab = ways.filter(({ targets }) => targets.every(({ isOutside }) => isOutside !== true));
    this.#ports.keepOnly(new Set(intoTheLab.map(nameOf)));
    this.#inside.update(ways);
    this.#fromHost.update(intoTheLab);
  }

  close(): void {
    for (const relays of [this.#inside, this.#fromHost]) relays.update([]);
  }
}

const nameOf = ({ service, port }: Way): string => `${service}:${port}`;

interface RelaysOptions {
  readonly ground: Ground;
  /** What a listener is known by: as long as it is the same, it goes on. */
  readonly nameOf: (way: Way) => string;
  readonly listen: (way: Way) => Promise<Server>;
  readonly onTrouble: (failure: Failure) => void;
}

/** Listens at one kind of entrance, and passes each connection on to one of the pods behind it. */
class Relays {
  readonly #options: RelaysOptions;
  readonly #servers = new Map<string, Promise<Server | undefined>>();
  #ways = new Map<string, Way>();
  #turn = 0;

  constructor(options: RelaysOptions) {
    this.#options = options;
  }

  update(ways: readonly Way[]): void {
    this.#ways = new Map(ways.map((way) => [this.#options.nameOf(way), way]));
    for (const [key, server] of this.#servers) {
      if (this.#ways.has(key)) continue;
      this.#servers.delete(key);
      void server.then((opened) => opened?.close());
    }
    for (const [key, way] of this.#ways) if (!this.#servers.has(key)) this.#servers.set(key, this.#open(key, way));
  }

  async #open(key: string, way: Way): Promise<Server | undefined> {
    try {
      const server = await this.#options.listen(way);
      server.on('connection', (socket: Socket) => this.#pass(key, socket));
      return server;
    } catch (thrown) {
      this.#servers.delete(key);
      this.#options.onTrouble(Failure.from(thrown));
      return undefined;
    }
  }

  #pass(key: string, from: Socket): void {
    from.on('error', () => from.destroy());
    const targets = this.#ways.get(key)?.targets ?? [];
    const target = targets[this.#turn++ % Math.max(1, targets.length)];
    if (target === undefined) return void from.resetAndDestroy();
    const opening =
      target.isOutside === true ? outside(target) : this.#options.ground.dial(target.address, target.port);
    opening.then(
      (to) => join(from, to),
      () => from.resetAndDestroy(),
    );
  }
}

function outside({ address, port }: Target): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}

/** Ties two connections together: what ends one ends the other. */
export function join(a: Socket, b: Socket): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}
