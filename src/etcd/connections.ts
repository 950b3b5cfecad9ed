import { Failure } from '../std/failure.ts';
import { type ConnectionSettings, connectionTo, type EtcdConnection } from './client.ts';
import { type Endpoint, placeOf } from './endpoint.ts';

export interface PoolSettings extends ConnectionSettings {
  /** How many members are kept connected; beyond that, the one that was not asked for longest gives its connection back. */
  readonly limit: number;
}

const usualLimit = 512;
/** The largest cluster has nine members, and one of them asks. */
const mostAsked = 8;

/** Connections that outlive a pass: one a member, reused while its certificates and password stay what they are. */
export class EtcdConnections {
  readonly #settings: Partial<PoolSettings>;
  /** In the order in which they were last asked for. */
  readonly #kept = new Map<string, { readonly connection: EtcdConnection; readonly identity: string }>();
  #closed = false;

  constructor(settings: Partial<PoolSettings> = {}) {
    this.#settings = settings;
  }

  /** How many members there is a connection for. */
  get size(): number {
    return this.#kept.size;
  }

  to(endpoint: Endpoint): EtcdConnection {
    if (this.#closed) throw new Failure('bug', 'the etcd connections were closed, and one is asked for');
    const place = placeOf(endpoint);
    const identity = JSON.stringify([endpoint.tls, endpoint.credentials]);
    const known = this.#kept.get(place);
    if (known !== undefined && known.identity !== identity) this.forget(endpoint);
    const entry = this.#kept.get(place) ?? { connection: this.#connectionTo(endpoint), identity };
    this.#kept.delete(place);
    this.#kept.set(place, entry);
    this.#keepToLimit();
    return entry.connection;
  }

  /** For a member that is gone. Calls that are open may end. */
  forget(endpoint: Endpoint): void {
    const place = placeOf(endpoint);
    this.#kept.get(place)?.connection.rest();
    this.#kept.delete(place);
  }

  /** Forgets members of one owner that are not among these: their addresses may belong to other pods by now. */
  keepOnly(owner: string, present: readonly EtcdConnection[]): void {
    for (const { connection } of [...this.#kept.values()])
      if (connection.endpoint.owner === owner && !present.includes(connection)) this.forget(connection.endpoint);
  }

  /** For all members that were asked for one owner, which is gone. */
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
    const tokenElsewhere = (signal: AbortSignal): Promise<string> => this.#tokenBesides(endpoint, signal);
    return connectionTo(endpoint, { ...this.#settings, tokenElsewhere });
  }

  /** A token of another member of the same cluster; empty when there is none. Those asked for last are the likeliest to live. */
  async #tokenBesides({ url, credentials }: Endpoint, signal: AbortSignal): Promise<string> {
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
    const { limit = usualLimit } = this.#settings;
    for (const { connection } of [...this.#kept.values()].slice(0, -limit)) this.forget(connection.endpoint);
  }
}
