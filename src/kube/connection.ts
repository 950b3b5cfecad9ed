import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { callbackify } from 'node:util';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { unlessAborted } from '../std/when-aborted.ts';
import type { Access } from './config.ts';

/** One request, in the words of HTTP. */
export interface HttpRequest {
  readonly method: Dispatcher.HttpMethod;
  /** With its query, and without the path of the server's address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** Called right before the request is sent; throws if it must not be. */
  readonly confirm?: (() => void) | undefined;
  /** How long the answer may take to begin, and how long it may pause once it has begun. */
  readonly beginMillis: number;
  readonly pauseMillis: number;
}

export type HttpAnswer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>;

/** The way to one API server: requests and watches share a single connection, which is made when it is needed. */
export interface Connection {
  readonly request: (request: HttpRequest) => Promise<HttpAnswer>;
  /** Ends everything that is under way. */
  readonly close: () => Promise<void>;
}

const connectMillis = 10_000;
/** How long a certificate may be waited for: a program of the kubeconfig that hands it out may hang. */
const credentialsMillis = 30_000;
/** A connection can be dead without either end being told. We ask this often, and give up after so many silences. */
const pingMillis = 10_000;
const silencesAllowed = 3;
/** How long a connection is kept that nobody uses. */
const keepAliveMillis = 60_000;

export interface ConnectionOptions {
  readonly userAgent: string;
  readonly pingMillis?: number;
}

export function connectTo(access: Access, options: ConnectionOptions): Connection {
  const pool = new Pool(access.url.origin, {
    allowH2: true,
    connect: connectorFor(access, { allowH2: true }),
    h2Options: { pingInterval: options.pingMillis ?? pingMillis },
    keepAliveTimeout: keepAliveMillis,
    factory: (origin, given) => watched(origin, given, options.pingMillis ?? pingMillis),
  });
  const prefix = access.url.pathname.replace(/\/+$/, '');
  const send = async ({ path, headers, body, signal, confirm, ...request }: HttpRequest): Promise<HttpAnswer> => {
    const given = await access.headers();
    signal?.throwIfAborted();
    confirm?.();
    const answer = await pool.request({
      method: request.method,
      path: `${prefix}${path}`,
      headers: { 'user-agent': options.userAgent, ...given, ...headers },
      headersTimeout: request.beginMillis,
      bodyTimeout: request.pauseMillis,
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (answer.statusCode === 401) access.refused?.();
    return answer;
  };
  return {
    // The pool itself looks at the signal only when it has a connection.
    request: (request) => unlessAborted(send(request), request.signal),
    close: () => pool.destroy(),
  };
}

/** Opens sockets with what `access` says at that time. */
export function connectorFor(access: Access, { allowH2 }: { readonly allowH2: boolean }): buildConnector.connector {
  const credentials = () => unlessAborted(access.tls(), AbortSignal.timeout(credentialsMillis));
  const open = async (target: buildConnector.Options): Promise<Socket | TLSSocket> => {
    const tls = target.protocol === 'https:' ? await credentials() : {};
    const options = { ...tls, allowH2, timeout: connectMillis, keepAlive: true } as buildConnector.BuildOptions;
    const { promise, resolve, reject } = Promise.withResolvers<Socket | TLSSocket>();
    buildConnector(options)(target, (error, socket) => (error === null ? resolve(socket) : reject(error)));
    return await promise;
  };
  const callbackOpen = callbackify(open);
  return (target, callback) =>
    callbackOpen(target, (error, socket) => (error === null ? callback(null, socket) : callback(error, null)));
}

/**
 * A connection that is dropped when it falls silent. Without this, a peer that vanished (a node that lost its power, a
 * firewall that forgot us) would be noticed only when each watch has waited for its own time-out. Silences are counted
 * instead of timed, so that a process which was paused does not blame its peer.
 */
function watched(origin: URL, given: Client.Options, everyMillis: number): Client {
  const open = given.connect as buildConnector.connector;
  let silences = 0;
  const watch = (socket: Socket | TLSSocket): void => {
    if (!('alpnProtocol' in socket) || socket.alpnProtocol !== 'h2') return;
    silences = 0;
    const timer = setInterval(() => {
      if (silences++ >= silencesAllowed) socket.destroy(new Error('the connection fell silent'));
    }, everyMillis).unref();
    socket.once('close', () => clearInterval(timer));
  };
  const connect: buildConnector.connector = (target, callback) =>
    open(target, (...opened) => {
      if (opened[1] !== null) watch(opened[1]);
      callback(...opened);
    });
  const client = new Client(origin, { ...given, connect });
  // An event of HTTP/2 clients that the types do not mention: a ping was answered.
  client.on('ping' as 'drain', () => (silences = 0));
  return client;
}
