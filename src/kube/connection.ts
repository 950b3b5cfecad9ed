import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { callbackify } from 'node:util';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { unlessAborted } from '../std/when-aborted.ts';
import type { Access } from './config.ts';

/** One HTTP request. */
export interface HttpRequest {
  readonly method: Dispatcher.HttpMethod;
  /** Path and query, without the path prefix of the server's URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** Called right before the request is sent. If it throws, nothing is sent. */
  readonly confirm?: (() => void) | undefined;
  /** The time-out for the headers, and for each pause in the body. */
  readonly beginMillis: number;
  readonly pauseMillis: number;
}

export type HttpAnswer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>;

/** A connection to one API server, opened on demand. Requests and watches share it. */
export interface Connection {
  readonly request: (request: HttpRequest) => Promise<HttpAnswer>;
  /** Aborts all open requests. */
  readonly close: () => Promise<void>;
}

const connectMillis = 10_000;
/** The time-out for credentials: an exec plugin of the kubeconfig may hang. */
const credentialsMillis = 30_000;
/** The interval of HTTP/2 pings, and the number of unanswered pings after which a connection is dropped. */
const pingMillis = 10_000;
const unansweredAllowed = 3;
/** How long an unused connection is kept. */
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
    factory: (origin, given) => withPings(origin, given, options.pingMillis ?? pingMillis),
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
    if (answer.statusCode === 401) access.onUnauthorized?.();
    return answer;
  };
  return {
    // The pool checks the signal only after it has a connection.
    request: (request) => unlessAborted(send(request), request.signal),
    close: () => pool.destroy(),
  };
}

/** Opens sockets with the current credentials of `access`. */
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
 * Drops a connection after several unanswered pings. Otherwise a vanished server (power loss, a firewall that dropped
 * its state) is noticed only after the time-out of each watch. Pings are counted, not timed, so that a pause of this
 * process does no harm.
 */
function withPings(origin: URL, given: Client.Options, everyMillis: number): Client {
  const open = given.connect as buildConnector.connector;
  let unanswered = 0;
  const watch = (socket: Socket | TLSSocket): void => {
    if (!('alpnProtocol' in socket) || socket.alpnProtocol !== 'h2') return;
    unanswered = 0;
    const timer = setInterval(() => {
      if (unanswered++ >= unansweredAllowed) socket.destroy(new Error('the API server answers no pings'));
    }, everyMillis).unref();
    socket.once('close', () => clearInterval(timer));
  };
  const connect: buildConnector.connector = (target, callback) =>
    open(target, (...opened) => {
      if (opened[1] !== null) watch(opened[1]);
      callback(...opened);
    });
  const client = new Client(origin, { ...given, connect });
  // The event after an answered ping, which the types of undici lack.
  client.on('ping' as 'drain', () => (unanswered = 0));
  return client;
}
