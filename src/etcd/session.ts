import { type ClientHttp2Session, connect } from 'node:http2';
import type { Socket } from 'node:net';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { Failure } from '../std/failure.ts';
import { unlessAborted } from '../std/when-aborted.ts';
import { type Dialer, type Endpoint, openSocket, withTls } from './endpoint.ts';
import { callError, unary, unaryHeaders } from './unary.ts';

/**
 * The size limit of an answer: a list of nine members needs 4 KiB. The image, and so the answer, is chosen by the
 * author of the spec. User data and snapshot parts may be larger.
 */
const answerBytes = 1024 * 1024;
const bulkBytes = 64 * 1024 * 1024;

/** The HTTP/2 flow-control window. Node's default is too small: a snapshot would wait for window updates. */
const streamWindow = 1024 * 1024;

/** A unary call, ready to be sent. */
export interface UnaryCall {
  /** Service and method, as in `/etcdserverpb.KV/Range`. */
  readonly path: string;
  readonly message: Uint8Array;
  readonly token: string;
  readonly signal: AbortSignal;
  readonly millis: number;
  /** The answer contains user data and may be large. */
  readonly bulk?: true | undefined;
  /** Called right before the request is sent. If it throws, nothing is sent. */
  readonly confirm: () => void;
}

export interface SessionSettings {
  /**
   * The ping interval while a call is open. etcd 3.2 and later closes connections with pings more often than every
   * 5 s.
   */
  readonly pingMillis: number;
  /** The time-out of a ping. */
  readonly pongMillis: number;
  /** How long an unused connection is kept. */
  readonly idleMillis: number;
}

/** A connection as calls see it: one session, shared by all calls, which never reopens once it is retired. */
export interface MemberSession {
  /** For streams. */
  readonly bulkTransport: Pick<Transport, 'stream'>;
  /** Sends a unary call, and returns the bytes of the answer. */
  readonly unary: (call: UnaryCall) => Promise<Uint8Array>;
  /** True if the session takes no new calls. */
  readonly isRetired: boolean;
  /** True if the session is retired and has no open calls. */
  readonly isFinished: boolean;
  /** Registers an open call; dispose the result at its end. */
  readonly beginCall: () => Disposable;
  /** Refuses new calls, and closes the connection after the last open call. */
  readonly retire: () => void;
  /** Closes the connection and ends every call on it. */
  readonly abort: () => void;
}

export type OpenSession = (endpoint: Endpoint, settings: SessionSettings) => MemberSession;

export const openSession: OpenSession = (endpoint, settings) => new Session(endpoint, settings);

export const defaultSession: SessionSettings = { pingMillis: 7_000, pongMillis: 5_000, idleMillis: 120_000 };

/**
 * One HTTP/2 connection, opened by its first call and shared by all calls. A retired session never reopens.
 *
 * The session manager of connect-node is not used: it reconnects by itself, even after an abort. If the server closes
 * the connection at the same moment, it emits an unhandled error, which ends the process.
 */
class Session implements MemberSession {
  /** For streams. */
  readonly bulkTransport: Transport;
  readonly #endpoint: Endpoint;
  readonly #settings: SessionSettings;
  #opening: Promise<ClientHttp2Session> | undefined;
  #connection: ClientHttp2Session | undefined;
  readonly #aborted = new AbortController();
  #openCalls = 0;
  #retired = false;
  #pinging: NodeJS.Timeout | undefined;
  #idling: NodeJS.Timeout | undefined;

  constructor(endpoint: Endpoint, settings: SessionSettings) {
    this.#endpoint = endpoint;
    this.#settings = settings;
    this.bulkTransport = this.#transport(bulkBytes);
  }

  #transport(readMaxBytes: number): Transport {
    const { origin, host } = new URL(this.#endpoint.url);
    return createGrpcTransport({
      baseUrl: this.#endpoint.url,
      readMaxBytes,
      acceptCompression: [], // compressing a snapshot costs too much CPU
      sessionManager: {
        authority: origin,
        // Node's default omits the brackets of an IPv6 address.
        request: async (method, path, headers) =>
          (await this.#opened()).request({ ...headers, ':method': method, ':path': path, ':authority': host }),
        notifyResponseByteRead: () => {},
      },
    });
  }

  get isRetired(): boolean {
    return this.#retired;
  }

  get isFinished(): boolean {
    return this.#retired && this.#openCalls === 0;
  }

  beginCall(): Disposable {
    if (this.#openCalls++ === 0) this.#startPings();
    return {
      [Symbol.dispose]: () => {
        if (--this.#openCalls === 0) this.#startIdle();
      },
    };
  }

  retire(): void {
    this.#retired = true;
    if (this.#openCalls === 0) this.abort();
  }

  abort(): void {
    this.#retired = true;
    clearTimeout(this.#idling);
    clearInterval(this.#pinging);
    this.#aborted.abort();
    // Without open calls no error is needed, and its stack would cost more than the rest.
    this.#connection?.destroy(this.#openCalls === 0 ? undefined : closedByUs());
  }

  async unary({ path, message, bulk, confirm, ...call }: UnaryCall): Promise<Uint8Array> {
    const connection = await unlessAborted(this.#opened(), call.signal).catch(rethrow);
    confirm();
    const { host: authority } = new URL(this.#endpoint.url);
    const target = { ':method': 'POST', ':path': path, ':authority': authority };
    const mostBytes = bulk === true ? bulkBytes : answerBytes;
    return await unary(connection.request({ ...target, ...unaryHeaders(call) }), message, { ...call, mostBytes });
  }

  async #opened(): Promise<ClientHttp2Session> {
    this.#opening ??= this.#open();
    return await this.#opening;
  }

  #open(): Promise<ClientHttp2Session> {
    const { dialer } = this.#endpoint;
    return dialer === undefined ? this.#connect(openSocket(this.#endpoint)) : this.#connectWith(dialer);
  }

  async #connectWith(dialer: Dialer): Promise<ClientHttp2Session> {
    try {
      const socket = await dialer(this.#aborted.signal);
      socket.on('error', () => {}); // each call gets the error itself; an unhandled error event would end the process
      if (!this.#retired) return await this.#connect(withTls(socket, this.#endpoint));
      socket.destroy();
      throw closedByUs();
    } catch (thrown) {
      this.#retired = true;
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
      let isConnected = false;
      connection.once('connect', () => {
        isConnected = true;
        // The session may be aborted meanwhile; setLocalWindowSize would then throw an uncaught error.
        if (!connection.destroyed) connection.setLocalWindowSize(streamWindow);
        resolve(connection);
      });
      connection.on('error', reject); // stays attached: an unhandled error event would end the process
      connection.once('close', () => {
        this.#retired = true;
        if (!isConnected) reject(closedByUs());
      });
    });
  }

  #startPings(): void {
    clearTimeout(this.#idling);
    this.#connection?.ref();
    this.#pinging = setInterval(() => this.#ping(), this.#settings.pingMillis);
  }

  #startIdle(): void {
    clearInterval(this.#pinging);
    if (this.#retired) return this.abort();
    this.#connection?.unref(); // an idle connection does not keep the process alive
    this.#idling = setTimeout(() => this.retire(), this.#settings.idleMillis).unref();
  }

  /** Pings the server. A connection that is still connecting is dropped: a TLS handshake has no time-out of its own. */
  #ping(): void {
    const connection = this.#connection;
    if (connection === undefined || connection.destroyed) return;
    const { pingMillis, pongMillis } = this.#settings;
    if (connection.connecting) {
      connection.destroy(new ConnectError(`not connected within ${pingMillis} ms`, Code.Unavailable));
      return;
    }
    const noAnswer = new ConnectError(`no answer to a ping within ${pongMillis} ms`, Code.Unavailable);
    const timer = setTimeout(() => connection.destroy(noAnswer), pongMillis).unref();
    connection.ping(() => clearTimeout(timer));
  }
}

function rethrow(thrown: unknown): never {
  throw callError(thrown);
}

const closedByUs = (): ConnectError => new ConnectError('the connection was closed', Code.Unavailable);
