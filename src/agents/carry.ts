import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../std/failure.ts';
import { type ObjectAddress, otherKeysOf } from '../storage/address.ts';
import { courierHeaders, courierPath, readCourierFiles } from '../storage/courier/courier-pass.ts';
import { StoreFailure } from '../storage/failures.ts';
import { manifestKey } from '../storage/names.ts';
import type { Body, Explanation, ObjectStore, StoredObject } from '../storage/store.ts';

export interface CarrySettings {
  readonly address: ObjectAddress;
  /** Where its certificate and the token that it asks for are mounted. */
  readonly identity: string;
  readonly port: number;
}

export interface CarryParts {
  readonly store: ObjectStore;
  readonly signal: AbortSignal;
}

/**
 * Stands until it is told to go, and reads one object, and its manifest, to whoever shows the token. It has credentials that
 * whoever reads must not have.
 */
export async function carry(settings: CarrySettings, parts: CarryParts): Promise<object> {
  const { certificate, key, token } = await readCourierFiles(settings.identity, 'certificate', 'key', 'token');
  const { address } = settings;
  const keys = [address.key, manifestKey(address.key), ...otherKeysOf(address)];
  const served = new Map(keys.map((each) => [courierPath(each), each]));
  const answering: Answering = { ...parts, served, token: digest(token) };
  const server = createServer({ cert: certificate, key }, (request, response) => {
    void answer(request, response, answering);
  });
  await standing(server, settings.port, parts.signal);
  return {};
}

async function standing(server: Server, port: number, signal: AbortSignal): Promise<void> {
  server.listen(port);
  await once(server, 'listening', { signal });
  if (!signal.aborted) await once(signal, 'abort');
  server.close();
  server.closeAllConnections();
}

interface Answering extends CarryParts {
  /** Paths, and the objects that they stand for. */
  readonly served: ReadonlyMap<string, string>;
  readonly token: Buffer;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Of which the caller is to be told in the words of the store. */
class Unfit extends Error {
  readonly status: number;

  constructor(status: number, says: string) {
    super(says);
    this.status = status;
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, answering: Answering): Promise<void> {
  try {
    await bring(request, response, answering);
  } catch (thrown) {
    if (response.headersSent) return void response.destroy(); // what is missing is seen by its length
    const { trouble, says } = explained(thrown);
    const headers = { [courierHeaders.trouble]: trouble, [courierHeaders.says]: encodeURIComponent(says) };
    response.writeHead(thrown instanceof Unfit ? thrown.status : 502, headers).end();
  }
}

function explained(thrown: unknown): Explanation {
  if (thrown instanceof StoreFailure) return thrown;
  if (thrown instanceof Unfit) return { trouble: 'denied', says: thrown.message };
  return { trouble: 'unreachable', says: Failure.from(thrown).message };
}

async function bring(request: IncomingMessage, response: ServerResponse, answering: Answering): Promise<void> {
  const { store, signal } = answering;
  const key = keyAskedFor(request, answering);
  const from = Number(/^bytes=(\d{1,15})-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const head = ({ size, modified }: StoredObject): ServerResponse =>
    response.writeHead(from === 0 ? 200 : 206, {
      [courierHeaders.size]: String(size),
      [courierHeaders.modified]: modified.toISOString(),
      'content-length': String(Math.max(size - from, 0)),
    });
  if (request.method === 'HEAD') return void head(await store.head(key, signal)).end();
  const { body, ...object } = await store.get(key, signal);
  await pipeline(Readable.from(without(from, body), { objectMode: false }), head(object), { signal });
}

function keyAskedFor({ method = '', url = '', headers }: IncomingMessage, { served, token }: Answering): string {
  const shown = headers.authorization?.replace(/^Bearer /, '');
  if (!timingSafeEqual(digest(`${shown}`), token)) throw new Unfit(401, 'this token opens nothing');
  if (!['GET', 'HEAD'].includes(method)) throw new Unfit(405, 'a courier only reads');
  const key = served.get(url);
  if (key === undefined) throw new Unfit(403, 'a courier brings one object, and no other');
  return key;
}

/** Leaves out what the caller has: not every store can begin in the middle, and it is seldom asked for. */
async function* without(count: number, body: Body): AsyncGenerator<Uint8Array> {
  let left = count;
  for await (const part of body) {
    const rest = part.subarray(Math.min(left, part.byteLength));
    left -= part.byteLength - rest.byteLength;
    if (rest.byteLength > 0) yield rest;
  }
}
