import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreAddress } from '../address.ts';
import { brokenConnection } from '../failures.ts';
import type { ByteStream, Explanation, StoreDriver, StoredObject, StoreTrouble } from '../store.ts';
import { readStoreProxyFiles, storeProxyHeaders, storeProxyName, storeProxyPath } from './store-proxy-files.ts';

/** A store proxy that was killed is created again, and its new address takes a minute or two to be mounted here. */
const defaultRetryMillis = 240_000;
const pauseMillis = 1_000;
/** How many consecutive attempts may fail without a byte received. */
const maxVainAttempts = 5;

export interface StoreProxyAccess {
  /** Mount directory of the Secret, which is read again at every attempt. */
  readonly directory: string;
  readonly retryMillis?: number | undefined;
}

/** Driver for a store behind a store proxy, which serves one object and its manifest, read-only. */
export function storeProxyDriver({ bucket }: StoreAddress, access: StoreProxyAccess): StoreDriver {
  const ask = (proxyRequest: ProxyRequest): Promise<IncomingMessage> => sendWithRetries(proxyRequest, access);
  return {
    place: `bucket "${bucket}" through the store proxy`,
    identity: "the operator's",
    get: async (key, signal) => {
      const first = await ask({ method: 'GET', key, from: 0, signal });
      return { ...objectOf(key, first), body: resumed(first, (from) => ask({ method: 'GET', key, from, signal })) };
    },
    head: async (key, signal) => objectOf(key, (await ask({ method: 'HEAD', key, from: 0, signal })).resume()),
    list: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(readOnlyError()) }) }),
    put: () => Promise.reject(readOnlyError()),
    delete: () => Promise.reject(readOnlyError()),
    explain,
  };
}

/** A failure that the store proxy reports for the store behind it. */
class Refused extends Error {
  readonly trouble: StoreTrouble;

  constructor(trouble: StoreTrouble, detail: string) {
    super(detail);
    this.trouble = trouble;
  }
}

const readOnlyError = (): Refused =>
  new Refused('denied', "with the operator's credentials, only this object can be read");

function explain(thrown: unknown): Explanation {
  if (thrown instanceof Refused) return { trouble: thrown.trouble, detail: thrown.message };
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  return brokenConnection(thrown) ?? { trouble: 'unreachable', detail };
}

interface ProxyRequest {
  readonly method: 'GET' | 'HEAD';
  readonly key: string;
  readonly from: number;
  readonly signal: AbortSignal;
}

/** Sends a request, and retries until the store proxy answers or the time is over. */
async function sendWithRetries(proxyRequest: ProxyRequest, access: StoreProxyAccess): Promise<IncomingMessage> {
  const until = performance.now() + (access.retryMillis ?? defaultRetryMillis);
  const { signal } = proxyRequest;
  const isFinal = (thrown: unknown): boolean =>
    thrown instanceof Refused || signal.aborted || performance.now() > until;
  for (;;) {
    const answer = await send(proxyRequest, access.directory).catch((thrown: unknown) => {
      if (isFinal(thrown)) throw thrown;
      return sleep(pauseMillis, undefined, { signal });
    });
    if (answer !== undefined) return answer;
  }
}

async function send({ method, key, from, signal }: ProxyRequest, directory: string): Promise<IncomingMessage> {
  const { address, ca, token } = await readStoreProxyFiles(directory, 'address', 'ca', 'token');
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { authorization: `Bearer ${token}`, ...(from === 0 ? {} : { range: `bytes=${from}-` }) };
  // A path that begins with "//" must not be parsed as a host.
  const url = new URL(`https://${address}${storeProxyPath(key)}`);
  const sent = request(url, {
    method,
    headers,
    signal,
    ca,
    servername: storeProxyName,
    agent: false,
  });
  sent.on('response', resolve);
  sent.on('error', reject);
  sent.end();
  const answer = await promise;
  if (answer.statusCode === 200 || answer.statusCode === 206) return answer;
  answer.resume();
  throw refusalIn(answer);
}

/** A 401 is retried: until the mounted Secret is updated, address and token may belong to different store proxies. */
function refusalIn(answer: IncomingMessage): Error {
  if (answer.statusCode === 401) return new Error('the store proxy refuses the token');
  const trouble = headerOf(answer, 'trouble') as StoreTrouble;
  return new Refused(
    trouble || 'rejected',
    headerOf(answer, 'detail') || `the store proxy answered with HTTP ${answer.statusCode}`,
  );
}

const headerOf = ({ headers }: IncomingMessage, name: keyof typeof storeProxyHeaders): string =>
  decodeURIComponent(String(headers[storeProxyHeaders[name]] ?? ''));

const objectOf = (key: string, answer: IncomingMessage): StoredObject => ({
  key,
  size: Number(headerOf(answer, 'size')),
  modified: new Date(headerOf(answer, 'modified')),
});

/** Resumes an interrupted read at the byte where it stopped. Fails if the object has changed. */
async function* resumed(
  first: IncomingMessage,
  again: (from: number) => Promise<IncomingMessage>,
): ByteStream & AsyncGenerator<Uint8Array> {
  const { size, modified } = objectOf('', first);
  let received = 0;
  let answer = first;
  for (let vain = 0; vain < maxVainAttempts; vain++) {
    for await (const part of untilBroken(answer)) {
      received += part.byteLength;
      vain = 0;
      yield part;
    }
    if (received >= size) return;
    answer = await again(received);
    const now = objectOf('', answer);
    if (now.size !== size || now.modified.getTime() !== modified.getTime())
      throw new Refused('truncated', 'the object was replaced during the read');
  }
}

/** Ends without an error if the connection breaks: the caller counts the bytes. */
async function* untilBroken(answer: IncomingMessage): AsyncGenerator<Uint8Array> {
  const parts = answer[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const end = { done: true, value: undefined } as const;
  const next = (): Promise<IteratorResult<Uint8Array, undefined>> => parts.next().catch(() => end);
  try {
    for (let found = await next(); found.done !== true; found = await next()) yield found.value;
  } finally {
    answer.destroy();
  }
}
