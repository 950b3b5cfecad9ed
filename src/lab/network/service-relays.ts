import type { Server, Socket } from 'node:net';
import { connect } from 'node:net';
import type { Service } from '../../kube/object.ts';
import type { Failure } from '../../std/failure.ts';
import type { Ground } from '../ground/ground.ts';
import type { EndpointSlice } from '../kinds.ts';

/** One address and port of a service, and where connections to it go. */
export interface Way {
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
      .map(({ name, port }) => ({ host, port, targets: targetsOf(service, slices, name) }));
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

/** Listens on the addresses of services, and passes each connection on to one of the pods behind it. */
export class ServiceRelays {
  readonly #ground: Ground;
  readonly #onTrouble: (failure: Failure) => void;
  readonly #servers = new Map<string, Promise<Server | undefined>>();
  #ways = new Map<string, Way>();
  #turn = 0;

  constructor(ground: Ground, onTrouble: (failure: Failure) => void) {
    this.#ground = ground;
    this.#onTrouble = onTrouble;
  }

  /** From now on these are the ways, and no others. */
  update(ways: readonly Way[]): void {
    this.#ways = new Map(ways.map((way) => [`${way.host}:${way.port}`, way]));
    for (const [key, server] of this.#servers) {
      if (this.#ways.has(key)) continue;
      this.#servers.delete(key);
      void server.then((opened) => opened?.close());
    }
    for (const [key, way] of this.#ways) if (!this.#servers.has(key)) this.#servers.set(key, this.#open(key, way));
  }

  close(): void {
    this.update([]);
  }

  async #open(key: string, { host, port }: Way): Promise<Server | undefined> {
    try {
      const server = await this.#ground.listen(host, port);
      server.on('connection', (socket: Socket) => this.#pass(key, socket));
      return server;
    } catch (thrown) {
      this.#servers.delete(key);
      this.#onTrouble(thrown as Failure);
      return undefined;
    }
  }

  #pass(key: string, from: Socket): void {
    from.on('error', () => from.destroy());
    const targets = this.#ways.get(key)?.targets ?? [];
    const target = targets[this.#turn++ % Math.max(1, targets.length)];
    if (target === undefined) return void from.resetAndDestroy();
    const opening = target.isOutside === true ? outside(target) : this.#ground.dial(target.address, target.port);
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
