import { Failure } from '../std/failure.ts';
import { type ConnectionSettings, connectionTo, type EtcdConnection } from './client.ts';
import { type Endpoint, endpointLabel } from './endpoint.ts';

export interface PoolSettings extends ConnectionSettings {
  /** The most open connections. Beyond it, the least recently used connection is closed. */
  readonly limit: number;
}

const defaultLimit = 512;
/** The most members asked for a token: the largest cluster has nine members, one of which needs the token. */
const mostAsked = 8;

/** Connections kept across passes, one per member. A changed certificate or password opens a new one. */
export class EtcdConnections {
  readonly #settings: Partial<PoolSettings>;
  /** In order of last use. */
  readonly #kept = new Map<string, { readonly connection: EtcdConnection; readonly identity: string }>();
  #closed = false;

  constructor(settings: Partial<PoolSettings> = {}) {
    this.#settings = settings;
  }

  /** The number of members with a connection. */
  get size(): number {
    return this.#kept.size;
  }

  to(endpoint: Endpoint): EtcdConnection {
    if (this.#closed) throw new Failure('bug', 'an etcd connection was requested after close');
    const label = endpointLabel(endpoint);
    const identity = JSON.stringify([endpoint.tls, endpoint.credentials]);
    const known = this.#kept.get(label);
    if (known !== undefined && known.identity !== identity) this.forget(endpoint);
    const entry = this.#kept.get(label) ?? { connection: this.#connectionTo(endpoint), identity };
    this.#kept.delete(label);
    this.#kept.set(label, entry);
    this.#keepToLimit();
    return entry.connection;
  }

  /** Closes the connection of a removed member. Open calls finish first. */
  forget(endpoint: Endpoint): void {
    const label = endpointLabel(endpoint);
    this.#kept.get(label)?.connection.closeWhenIdle();
    this.#kept.delete(label);
  }

  /** Closes an owner's connections that are not in `present`: other pods may have their addresses by now. */
  keepOnly(owner: string, present: readonly EtcdConnection[]): void {
    for (const { connection } of [...this.#kept.values()])
      if (connection.endpoint.owner === owner && !present.includes(connection)) this.forget(connection.endpoint);
  }

  /** Closes all connections of a deleted owner. */
  forgetAll(owner: string): void {
    this.keepOnly(owner, []);
  }

  close(): void {
    this.#closed = true;
    for (const { connection } of this.#kept.values()) connection.close();
    this.#kept.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #connectionTo(endpoint: Endpoint): EtcdConnection {
    const tokenFromOtherMember = (signal: AbortSignal): Promise<string> => this.#tokenFromOthers(endpoint, signal);
    return connectionTo(endpoint, { ...this.#settings, tokenFromOtherMember });
  }

  /** A token from another member of the same cluster; empty if there is none. Recently used members are asked. */
  async #tokenFromOthers({ url, credentials }: Endpoint, signal: AbortSignal): Promise<string> {
    const { user = '', password = '', realm } = credentials ?? {};
    if (realm === undefined) return '';
    const others = [...this.#kept.values()]
      .map(({ connection }) => connection)
      .filter(({ endpoint }) => endpoint.credentials?.realm === realm && endpoint.url !== url)
      .slice(-mostAsked);
    const asked = others.map((other) => other.authenticate(user, password, { signal }));
    return await Promise.any(asked).catch(() => '');
  }

  #keepToLimit(): void {
    const { limit = defaultLimit } = this.#settings;
    for (const { connection } of [...this.#kept.values()].slice(0, -limit)) this.forget(connection.endpoint);
  }
}
