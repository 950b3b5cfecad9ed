import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { Failure } from '../std/failure.ts';
import { type Endpoint, openSocket, speakOver, type Way } from './endpoint.ts';

/**
 * The most that one answer may have: a member list of nine needs 4 KiB. The author of a spec chooses the image, and so
 * what it answers. Clients' own data, and the parts of a snapshot, may be larger.
 */
const answerBytes = 1024 * 1024;
const bulkBytes = 64 * 1024 * 1024;

/** How much a member may send before we have read it. Node's own is so small that a snapshot waits for us all the time. */
const streamWindow = 1024 * 1024;

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

/**
 * One HTTP/2 connection, opened with its first call and shared by many. Once it is over it stays over.
 *
 * The library has a session manager of its own, which we do not use: it connects again by itself, also after it was told to
 * end, and when the other side hangs up in the moment in which we do, it ends the process with an error nobody listens to.
 */
export class Session {
  readonly transport: Transport;
  /** For what users keep in etcd. */
  readonly bulkTransport: Transport;
  readonly #endpoint: Endpoint;
  readonly #settings: SessionSettings;
  #opening: Promise<ClientHttp2Session> | undefined;
  #connection: ClientHttp2Session | undefined;
  readonly #givenUp = new AbortController();
  #openCalls = 0;
  #over = false;
  #pinging: NodeJS.Timeout | undefined;
  #idling: NodeJS.Timeout | undefined;

  constructor(endpoint: Endpoint, settings: SessionSettings) {
    this.#endpoint = endpoint;
    this.#settings = settings;
    this.transport = this.#transport(answerBytes);
    this.bulkTransport = this.#transport(bulkBytes);
  }

  #transport(readMaxBytes: number): Transport {
    const { origin, host } = new URL(this.#endpoint.url);
    return createGrpcTransport({
      baseUrl: this.#endpoint.url,
      readMaxBytes,
      acceptCompression: [], // a snapshot is big enough without its bytes being chewed twice
      sessionManager: {
        authority: origin,
        // Node by itself would leave out the brackets of an IPv6 address.
        request: (method, path, headers) =>
          this.#request({ ...headers, ':method': method, ':path': path, ':authority': host }),
        notifyResponseByteRead: () => {},
      },
    });
  }

  /** Takes no new calls. */
  get over(): boolean {
    return this.#over;
  }

  /** Has no calls left and will get none. */
  get gone(): boolean {
    return this.#over && this.#openCalls === 0;
  }

  /** Counts a call in; disposing of what this gives counts it out. */
  beginCall(): Disposable {
    if (this.#openCalls++ === 0) this.#watchOver();
    return {
      [Symbol.dispose]: () => {
        if (--this.#openCalls === 0) this.#rest();
      },
    };
  }

  /** No new calls: the connection goes as soon as those that are open have ended. */
  retire(): void {
    this.#over = true;
    if (this.#openCalls === 0) this.abort();
  }

  /** Ends the connection and every call on it. */
  abort(): void {
    this.#over = true;
    clearTimeout(this.#idling);
    clearInterval(this.#pinging);
    this.#givenUp.abort();
    this.#connection?.destroy(closedByUs());
  }

  async #request(headers: OutgoingHttpHeaders): Promise<ClientHttp2Stream> {
    this.#opening ??= this.#open();
    return (await this.#opening).request(headers);
  }

  #open(): Promise<ClientHttp2Session> {
    const { way } = this.#endpoint;
    return way === undefined ? this.#connect(openSocket(this.#endpoint)) : this.#connectBy(way);
  }

  async #connectBy(way: Way): Promise<ClientHttp2Session> {
    try {
      const socket = await way(this.#givenUp.signal);
      socket.on('error', () => {}); // each call hears of it by itself, but an error nobody listens to ends the process
      if (!this.#over) return await this.#connect(speakOver(socket, this.#endpoint));
      socket.destroy();
      throw closedByUs();
    } catch (thrown) {
      this.#over = true;
      throw thrown instanceof Failure ? new ConnectError(thrown.message, Code.Unavailable) : thrown;
    }
  }

  #connect(socket: Socket): Promise<ClientHttp2Session> {
    const connection = connect(this.#endpoint.url, {
      createConnection: () => socket,
      settings: { initialWindowSize: streamWindow },
    });
    this.#connection = connection;
    connection.on('goaway', () => this.retire());
    return new Promise((resolve, reject) => {
      connection.once('connect', () => {
        // It may have been given up meanwhile, and then throws where nobody can catch it.
        if (!connection.destroyed) connection.setLocalWindowSize(streamWindow);
        resolve(connection);
      });
      connection.on('error', reject); // stays: each call hears of an error by itself, but one nobody listens to ends the process
      connection.once('close', () => {
        this.#over = true;
        reject(closedByUs());
      });
    });
  }

  #watchOver(): void {
    clearTimeout(this.#idling);
    this.#connection?.ref();
    this.#pinging = setInterval(() => this.#ping(), this.#settings.pingMillis);
  }

  #rest(): void {
    clearInterval(this.#pinging);
    if (this.#over) return this.abort();
    this.#connection?.unref(); // it need not keep a program running that has nothing else to do
    this.#idling = setTimeout(() => this.retire(), this.#settings.idleMillis).unref();
  }

  /** A connection that is still being made by then never will be: a TLS handshake has no time limit of its own. */
  #ping(): void {
    const connection = this.#connection;
    if (connection === undefined || connection.destroyed) return;
    const { pingMillis, pongMillis } = this.#settings;
    if (connection.connecting) {
      connection.destroy(new ConnectError(`not connected within ${pingMillis} ms`, Code.Unavailable));
      return;
    }
    const noSign = new ConnectError(`no sign of life within ${pongMillis} ms`, Code.Unavailable);
    const patience = setTimeout(() => connection.destroy(noSign), pongMillis).unref();
    connection.ping(() => clearTimeout(patience));
  }
}

const closedByUs = (): ConnectError => new ConnectError('the connection was closed', Code.Unavailable);
