import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../std/failure.ts';
import { type ConnectionSettings, connectionTo, type EtcdConnection } from './client.ts';
import { type Endpoint, endpointLabel } from './endpoint.ts';

export interface PoolSettings extends ConnectionSettings {
  /** The most open connections. Beyond it, the least recently used connection is closed. */
  readonly limit: number;
  /** The most open connections of resting owners. */
  readonly restingLimit: number;
}

const defaultLimit = 512;
const defaultRestingLimit = 64;
/** The most members asked for a token: the largest cluster has nine members, one of which needs the token. */
const mostAsked = 8;

/**
 * The members in use, one entry each, and the open connections to them. A changed certificate or password opens a new
 * connection. A closed connection keeps its token, and opens again with the next call.
 */
export class EtcdConnections {
  readonly #settings: Partial<PoolSettings>;
  readonly #kept = new Map<string, EtcdConnection>();
  readonly #ofOwner = new Map<string, Set<string>>();
  /** The labels of connections that may be open, in order of last use, and those of resting owners among them. */
  readonly #used = new Set<string>();
  readonly #resting = new Set<string>();
  #closed = false;

  constructor(settings: Partial<PoolSettings> = {}) {
    this.#settings = settings;
  }

  /** The number of members in memory. */
  get size(): number {
    return this.#kept.size;
  }

  to(endpoint: Endpoint): EtcdConnection {
    if (this.#closed) throw new Failure('bug', 'an etcd connection was requested after close');
    const label = endpointLabel(endpoint);
    const known = this.#kept.get(label);
    if (known !== undefined && !hasSameIdentity(known.endpoint, endpoint)) this.forget(endpoint);
    const connection = this.#kept.get(label) ?? this.#add(label, this.#connectionTo(endpoint));
    this.#use(label);
    return connection;
  }

  /**
   * The pass of an owner has ended, and its next pass is far. Its connections stay open while few others rest. A TLS
   * handshake costs more than a request, an open connection 70 KiB.
   */
  rest(owner: string): void {
    for (const label of this.#ofOwner.get(owner) ?? []) {
      if (!this.#used.has(label)) continue;
      this.#resting.delete(label);
      this.#resting.add(label);
    }
    this.#closeBeyond(this.#resting, this.#settings.restingLimit ?? defaultRestingLimit);
  }

  /** Drops a removed member, and closes its connection. Open calls finish first. */
  forget(endpoint: Endpoint): void {
    const label = endpointLabel(endpoint);
    this.#close(label);
    this.#kept.delete(label);
    const { owner = '' } = endpoint;
    const others = this.#ofOwner.get(owner);
    others?.delete(label);
    if (others?.size === 0) this.#ofOwner.delete(owner);
  }

  /** Drops an owner's connections that are not in `present`: other pods may have their addresses by now. */
  keepOnly(owner: string, present: readonly EtcdConnection[]): void {
    for (const label of [...(this.#ofOwner.get(owner) ?? [])]) {
      const connection = this.#kept.get(label);
      if (connection !== undefined && !present.includes(connection)) this.forget(connection.endpoint);
    }
  }

  /** Drops all connections of a deleted owner. */
  forgetAll(owner: string): void {
    this.keepOnly(owner, []);
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#kept.values()) connection.close();
    for (const all of [this.#kept, this.#ofOwner, this.#used, this.#resting]) all.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #add(label: string, connection: EtcdConnection): EtcdConnection {
    const { owner = '' } = connection.endpoint;
    this.#kept.set(label, connection);
    this.#ofOwner.set(owner, (this.#ofOwner.get(owner) ?? new Set()).add(label));
    return connection;
  }

  #use(label: string): void {
    this.#resting.delete(label);
    this.#used.delete(label);
    this.#used.add(label);
    this.#closeBeyond(this.#used, this.#settings.limit ?? defaultLimit);
  }

  #closeBeyond(labels: ReadonlySet<string>, limit: number): void {
    for (const label of labels) {
      if (labels.size <= limit) return;
      this.#close(label);
    }
  }

  #close(label: string): void {
    this.#resting.delete(label);
    if (this.#used.delete(label)) this.#kept.get(label)?.closeWhenIdle();
  }

  #connectionTo(endpoint: Endpoint): EtcdConnection {
    const tokenFromOtherMember = (signal: AbortSignal): Promise<string> => this.#tokenFromOthers(endpoint, signal);
    return connectionTo(endpoint, { ...this.#settings, tokenFromOtherMember });
  }

  /** A token from another member of the same cluster; empty if there is none. Recently used members are asked. */
  async #tokenFromOthers({ url, credentials }: Endpoint, signal: AbortSignal): Promise<string> {
    const { user = '', password = '', realm } = credentials ?? {};
    if (realm === undefined) return '';
    const others = [...this.#used]
      .flatMap((label) => this.#kept.get(label) ?? [])
      .filter(({ endpoint }) => endpoint.credentials?.realm === realm && endpoint.url !== url)
      .slice(-mostAsked);
    const asked = others.map((other) => other.authenticate(user, password, { signal }));
    return await Promise.any(asked).catch(() => '');
  }
}

/** True if both have the same certificates and credentials. */
const hasSameIdentity = (one: Endpoint, other: Endpoint): boolean =>
  isDeepStrictEqual([one.tls, one.credentials], [other.tls, other.credentials]);
