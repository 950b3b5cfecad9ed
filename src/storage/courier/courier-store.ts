import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreAddress } from '../address.ts';
import { brokenConnection } from '../failures.ts';
import type { Body, Explanation, StoreDriver, StoredObject, StoreTrouble } from '../store.ts';
import { courierHeaders, courierName, courierPath, readCourierFiles } from './courier-pass.ts';

/** One that was killed is made again, and its new address takes a minute or two to arrive here. */
const usualPatience = 240_000;
const pauseMillis = 1_000;
/** How often reading may break off without a single byte in between. */
const mostVain = 5;

export interface CourierAccess {
  /** Where the Secret is mounted; read anew at every try. */
  readonly pass: string;
  readonly patienceMillis?: number | undefined;
}

/** A store by way of a courier, which has its credentials and lets one object be read, with its manifest. */
export function openCourier({ bucket }: StoreAddress, access: CourierAccess): StoreDriver {
  const ask = (question: Question): Promise<IncomingMessage> => patiently(question, access);
  return {
    place: `bucket "${bucket}", by way of the operator`,
    identity: "the operator's",
    get: async (key, signal) => {
      const first = await ask({ method: 'GET', key, from: 0, signal });
      return { ...objectOf(key, first), body: resumed(first, (from) => ask({ method: 'GET', key, from, signal })) };
    },
    head: async (key, signal) => objectOf(key, (await ask({ method: 'HEAD', key, from: 0, signal })).resume()),
    list: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(readsOnly()) }) }),
    put: () => Promise.reject(readsOnly()),
    delete: () => Promise.reject(readsOnly()),
    explain,
  };
}

/** What the courier answers, in the words of the store behind it. */
class Refused extends Error {
  readonly trouble: StoreTrouble;

  constructor(trouble: StoreTrouble, says: string) {
    super(says);
    this.trouble = trouble;
  }
}

const readsOnly = (): Refused =>
  new Refused('denied', "with the operator's credentials one object can be read, no more");

function explain(thrown: unknown): Explanation {
  if (thrown instanceof Refused) return { trouble: thrown.trouble, says: thrown.message };
  const says = thrown instanceof Error ? thrown.message : String(thrown);
  return brokenConnection(thrown) ?? { trouble: 'unreachable', says };
}

interface Question {
  readonly method: 'GET' | 'HEAD';
  readonly key: string;
  readonly from: number;
  readonly signal: AbortSignal;
}

/** Asks until somebody answers. */
async function patiently(question: Question, access: CourierAccess): Promise<IncomingMessage> {
  const until = performance.now() + (access.patienceMillis ?? usualPatience);
  const { signal } = question;
  const isFinal = (thrown: unknown): boolean =>
    thrown instanceof Refused || signal.aborted || performance.now() > until;
  for (;;) {
    const answer = await asked(question, access.pass).catch((thrown: unknown) => {
      if (isFinal(thrown)) throw thrown;
      return sleep(pauseMillis, undefined, { signal });
    });
    if (answer !== undefined) return answer;
  }
}

async function asked({ method, key, from, signal }: Question, directory: string): Promise<IncomingMessage> {
  const { address, authority, token } = await readCourierFiles(directory, 'address', 'authority', 'token');
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { authorization: `Bearer ${token}`, ...(from === 0 ? {} : { range: `bytes=${from}-` }) };
  const url = new URL(`https://${address}${courierPath(key)}`); // a path may begin with "//", which names no server here
  const sent = request(url, { ...{ method, headers, signal }, ca: authority, servername: courierName, agent: false });
  sent.on('response', resolve);
  sent.on('error', reject);
  sent.end();
  const answer = await promise;
  if (answer.statusCode === 200 || answer.statusCode === 206) return answer;
  answer.resume();
  throw refusalIn(answer);
}

/** Whoever does not know our token may be another than the one it is for: that passes. */
function refusalIn(answer: IncomingMessage): Error {
  if (answer.statusCode === 401) return new Error('the courier does not know this token');
  const trouble = headerOf(answer, 'trouble') as StoreTrouble;
  return new Refused(trouble || 'rejected', headerOf(answer, 'says') || `it answered with ${answer.statusCode}`);
}

const headerOf = ({ headers }: IncomingMessage, name: keyof typeof courierHeaders): string =>
  decodeURIComponent(String(headers[courierHeaders[name]] ?? ''));

const objectOf = (key: string, answer: IncomingMessage): StoredObject => ({
  key,
  size: Number(headerOf(answer, 'size')),
  modified: new Date(headerOf(answer, 'modified')),
});

/** Goes on where it broke off, with the same object and no other. */
async function* resumed(
  first: IncomingMessage,
  again: (from: number) => Promise<IncomingMessage>,
): Body & AsyncGenerator<Uint8Array> {
  const { size, modified } = objectOf('', first);
  let received = 0;
  let answer = first;
  for (let vain = 0; vain < mostVain; vain++) {
    for await (const part of untilBroken(answer)) {
      received += part.byteLength;
      vain = 0;
      yield part;
    }
    if (received >= size) return;
    answer = await again(received);
    const now = objectOf('', answer);
    if (now.size !== size || now.modified.getTime() !== modified.getTime())
      throw new Refused('truncated', 'it was replaced while it was read');
  }
}

/** That it breaks off is seen by what has arrived. */
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
