import type { Duplex } from 'node:stream';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { type Endpoint, openSocket } from './endpoint.ts';
import { EtcdFailure } from './errors.ts';

export interface SessionSettings {
  /**
   * How often the other side is asked for a sign of life while a call is open. From 3.2 on etcd hangs up on whoever asks
   * more often than every 5 s.
   */
  readonly pingMillis: number;
  /** How long it may take to give that sign. */
  readonly pongMillis: number;
  /** How long a connection is kept that nobody uses. */
  readonly idleMillis: number;
}

export const usualSession: SessionSettings = { pingMillis: 7_000, pongMillis: 5_000, idleMillis: 120_000 };

/** One HTTP/2 connection, opened with the first call. Many calls share it. */
export class Session {
  readonly transport: Transport;
  readonly #manager: Http2SessionManager;
  #openCalls = 0;
  #onEnd: (() => void) | undefined;
  #aborted = false;

  constructor(endpoint: Endpoint, { pingMillis, pongMillis, idleMillis }: SessionSettings) {
    this.#manager = new Http2SessionManager(
      endpoint.url,
      { pingIntervalMs: pingMillis, pingTimeoutMs: pongMillis, idleConnectionTimeoutMs: idleMillis },
      { createConnection: () => this.#connect(endpoint) },
    );
    this.transport = createGrpcTransport({
      baseUrl: endpoint.url,
      sessionManager: this.#manager,
      acceptCompression: [], // a snapshot is big enough without its bytes being chewed twice
    });
  }

  /** Counts a call in; disposing of what this gives counts it out. */
  beginCall(): Disposable {
    this.#openCalls++;
    return {
      [Symbol.dispose]: () => {
        this.#openCalls--;
        this.#endIfDone();
      },
    };
  }

  /** No new calls: the connection goes as soon as those that are open have ended. */
  retire(onEnd: () => void): void {
    this.#onEnd = onEnd;
    this.#endIfDone();
  }

  /** Ends the connection and every call on it. */
  abort(): void {
    this.#aborted = true;
    this.#manager.abort(closedByUs());
  }

  #endIfDone(): void {
    if (this.#onEnd === undefined || this.#openCalls > 0) return;
    this.abort();
    this.#onEnd();
  }

  /** The library connects anew where a connection ends while it waits for a sign of life, also if it was told to end it. */
  #connect(endpoint: Endpoint): Duplex {
    if (this.#aborted) throw closedByUs();
    return openSocket(endpoint);
  }
}

const closedByUs = (): ConnectError => new ConnectError('the connection was closed on our side', Code.Unavailable);

/**
 * The way to one member: one session at a time, replaced once it is suspect. A connection on which a call got no answer may
 * be dead without anybody knowing, in its TLS handshake above all, which has no time limit. It gets no new calls, but those
 * on it may still end well: a slow answer to one must not cost another its snapshot.
 */
export class Line {
  readonly endpoint: Endpoint;
  readonly #settings: SessionSettings;
  readonly #sessions = new Set<Session>();
  #current: Session | undefined;
  #closed = false;

  constructor(endpoint: Endpoint, settings: SessionSettings) {
    this.endpoint = endpoint;
    this.#settings = settings;
  }

  /** The session for a new call. */
  session(): Session {
    if (this.#closed) throw new EtcdFailure('unreachable', closedByUs().rawMessage, { mayBeDone: false });
    if (this.#current === undefined) {
      this.#current = new Session(this.endpoint, this.#settings);
      this.#sessions.add(this.#current);
    }
    return this.#current;
  }

  /** Gives a session no more calls. */
  retire(session: Session): void {
    if (this.#current === session) this.#current = undefined;
    session.retire(() => this.#sessions.delete(session));
  }

  /** Gives the connection back once the calls on it have ended; another call opens a new one. */
  rest(): void {
    if (this.#current !== undefined) this.retire(this.#current);
  }

  /** Ends every call, and lets none begin. */
  close(): void {
    this.#closed = true;
    for (const session of this.#sessions) session.abort();
    this.#sessions.clear();
  }
}
