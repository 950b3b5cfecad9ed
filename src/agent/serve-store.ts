import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ObjectAddress, otherKeysOf } from '../objectstore/address.ts';
import { StoreFailure } from '../objectstore/failures.ts';
import { manifestKey } from '../objectstore/names.ts';
import type { ByteStream, Explanation, ObjectStore, StoredObject } from '../objectstore/store.ts';
import {
  readStoreProxyFiles,
  storeProxyHeaders,
  storeProxyPath,
} from '../objectstore/store-proxy/store-proxy-files.ts';
import { Failure } from '../std/failure.ts';

export interface ServeStoreSettings {
  readonly address: ObjectAddress;
  /** Mount directory of the Secret with its certificate and token. */
  readonly identity: string;
  readonly port: number;
}

export interface ServeStoreParts {
  readonly store: ObjectStore;
  readonly signal: AbortSignal;
}

/**
 * Serves one object and its manifest over HTTPS until it is stopped. Clients authenticate with the token and never see
 * the credentials of the store.
 */
export async function serveStore(settings: ServeStoreSettings, parts: ServeStoreParts): Promise<object> {
  const { certificate, key, token } = await readStoreProxyFiles(settings.identity, 'certificate', 'key', 'token');
  const { address } = settings;
  const keys = [address.key, manifestKey(address.key), ...otherKeysOf(address)];
  const served = new Map(keys.map((each) => [storeProxyPath(each), each]));
  const answering: Answering = { ...parts, served, token: digest(token) };
  const server = createServer({ cert: certificate, key }, (request, response) => {
    void answer(request, response, answering);
  });
  await serveUntilAborted(server, settings.port, parts.signal);
  return {};
}

async function serveUntilAborted(server: Server, port: number, signal: AbortSignal): Promise<void> {
  server.listen(port);
  await once(server, 'listening', { signal });
  if (!signal.aborted) await once(signal, 'abort');
  server.close();
  server.closeAllConnections();
}

interface Answering extends ServeStoreParts {
  /** Keys of the served objects by URL path. */
  readonly served: ReadonlyMap<string, string>;
  readonly token: Buffer;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A request that is refused, reported to the client as a failure of the store. */
class RefusedRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, answering: Answering): Promise<void> {
  try {
    await sendObject(request, response, answering);
  } catch (thrown) {
    // The client sees by the length that the body is incomplete.
    if (response.headersSent) return void response.destroy();
    const { trouble, detail } = explained(thrown);
    const headers = { [storeProxyHeaders.trouble]: trouble, [storeProxyHeaders.detail]: encodeURIComponent(detail) };
    response.writeHead(thrown instanceof RefusedRequest ? thrown.status : 502, headers).end();
  }
}

function explained(thrown: unknown): Explanation {
  if (thrown instanceof StoreFailure) return thrown;
  if (thrown instanceof RefusedRequest) return { trouble: 'denied', detail: thrown.message };
  return { trouble: 'unreachable', detail: Failure.from(thrown).message };
}

async function sendObject(request: IncomingMessage, response: ServerResponse, answering: Answering): Promise<void> {
  const { store, signal } = answering;
  const key = requestedKey(request, answering);
  const from = Number(/^bytes=(\d{1,15})-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const head = ({ size, modified }: StoredObject): ServerResponse =>
    response.writeHead(from === 0 ? 200 : 206, {
      [storeProxyHeaders.size]: String(size),
      [storeProxyHeaders.modified]: modified.toISOString(),
      'content-length': String(Math.max(size - from, 0)),
    });
  if (request.method === 'HEAD') return void head(await store.head(key, signal)).end();
  const { body, ...object } = await store.get(key, signal);
  await pipeline(Readable.from(skipping(from, body), { objectMode: false }), head(object), { signal });
}

function requestedKey({ method = '', url = '', headers }: IncomingMessage, { served, token }: Answering): string {
  const presented = headers.authorization?.replace(/^Bearer /, '');
  if (!timingSafeEqual(digest(`${presented}`), token)) throw new RefusedRequest(401, 'this token is not valid');
  if (!['GET', 'HEAD'].includes(method)) throw new RefusedRequest(405, 'the store proxy is read-only');
  const key = served.get(url);
  if (key === undefined) throw new RefusedRequest(403, 'the store proxy serves one object and its manifest only');
  return key;
}

/** Skips the bytes that the client has already: not every store can start in the middle of an object. */
async function* skipping(count: number, body: ByteStream): AsyncGenerator<Uint8Array> {
  let left = count;
  for await (const part of body) {
    const rest = part.subarray(Math.min(left, part.byteLength));
    left -= part.byteLength - rest.byteLength;
    if (rest.byteLength > 0) yield rest;
  }
}
