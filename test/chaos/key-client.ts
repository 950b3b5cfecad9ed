import { Caller } from '../../src/etcd/call.ts';
import { MemberConnection } from '../../src/etcd/connection.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';
import { EtcdFailure } from '../../src/etcd/errors.ts';
import { Compare_Result, Compare_Target, type Event, Event_EventType, KV, Watch } from '../../src/etcd/gen/etcd_pb.ts';
import { defaultSession } from '../../src/etcd/session.ts';
import type { Expected, KeyAnswer, KeyChange, KeyRequest } from './operation.ts';

/** The endpoint of the client Service. It is asked for before each connection, because certificates change. */
export type ServiceEndpoint = () => Promise<Endpoint>;

const requestMillis = 2_000;
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** An etcd client with one connection. Unlike the operator's client, it reports the revision of each answer. */
export class KeyClient implements Disposable {
  readonly #service: ServiceEndpoint;
  #open: { readonly connection: MemberConnection; readonly caller: Caller } | undefined;

  constructor(service: ServiceEndpoint) {
    this.#service = service;
  }

  /** Sends a request once, and never throws. After any failure the next request opens a connection, perhaps to another member. */
  async perform(request: KeyRequest): Promise<KeyAnswer> {
    const sent = { isSent: false };
    try {
      const caller = await this.#caller();
      sent.isSent = true;
      return await send(caller, request);
    } catch (thrown) {
      this.reconnect();
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      const isDone = sent.isSent && (!(thrown instanceof EtcdFailure) || thrown.mayBeDone);
      return { outcome: isDone ? 'unknown' : 'failed', reason };
    }
  }

  /** The changes of all keys with a prefix, until the signal aborts or the watch breaks. */
  async *watch(prefix: string, from: number, signal: AbortSignal): AsyncGenerator<KeyChange, void, undefined> {
    const caller = await this.#caller();
    const range = { key: encode(prefix), rangeEnd: encode(`${prefix}\u{7f}`), startRevision: BigInt(from) };
    const request = { requestUnion: { case: 'createRequest' as const, value: range } };
    for await (const answer of caller.stream(Watch.method.watch, request, { signal, mayIdle: true })) {
      if (answer.canceled || answer.compactRevision > 0n) throw new Error(`watch canceled: ${answer.cancelReason}`);
      yield* answer.events.flatMap(changeOf);
    }
  }

  /** Makes the next request open a connection. */
  reconnect(): void {
    this.#open?.connection.close();
    this.#open = undefined;
  }

  [Symbol.dispose](): void {
    this.reconnect();
  }

  async #caller(): Promise<Caller> {
    if (this.#open !== undefined) return this.#open.caller;
    const connection = new MemberConnection(await this.#service(), defaultSession);
    const caller = new Caller(connection, { defaultMillis: requestMillis });
    this.#open = { connection, caller };
    return caller;
  }
}

function changeOf({ type, kv }: Event): readonly KeyChange[] {
  if (kv === undefined) return [];
  const kind = type === Event_EventType.DELETE ? 'delete' : 'put';
  return [{ revision: Number(kv.modRevision), key: decode(kv.key), kind, value: decode(kv.value) }];
}

function send(caller: Caller, request: KeyRequest): Promise<KeyAnswer> {
  switch (request.kind) {
    case 'put':
      return put(caller, request);
    case 'get':
      return get(caller, request);
    case 'delete':
      return remove(caller, request);
    case 'cas':
      return compareAndSwap(caller, request);
    default:
      return request.kind satisfies never;
  }
}

interface Header {
  readonly header?: { readonly revision: bigint } | undefined;
}

const answered = ({ header }: Header, rest: { done: boolean; value?: string; modRevision?: bigint }): KeyAnswer => ({
  outcome: 'ok',
  revision: Number(header?.revision ?? 0n),
  done: rest.done,
  value: rest.value ?? '',
  modRevision: Number(rest.modRevision ?? 0n),
});

async function put(caller: Caller, { key, value = '' }: KeyRequest): Promise<KeyAnswer> {
  return answered(await caller.ask(KV.method.put, { key: encode(key), value: encode(value) }), { done: true });
}

async function get(caller: Caller, { key }: KeyRequest): Promise<KeyAnswer> {
  const answer = await caller.ask(KV.method.range, { key: encode(key) });
  const [found] = answer.kvs;
  if (found === undefined) return answered(answer, { done: true });
  return answered(answer, { done: true, value: decode(found.value), modRevision: found.modRevision });
}

async function remove(caller: Caller, { key }: KeyRequest): Promise<KeyAnswer> {
  const answer = await caller.ask(KV.method.deleteRange, { key: encode(key) });
  return answered(answer, { done: answer.deleted > 0n });
}

async function compareAndSwap(caller: Caller, { key, value = '', expected }: KeyRequest): Promise<KeyAnswer> {
  const success = [{ request: { case: 'requestPut' as const, value: { key: encode(key), value: encode(value) } } }];
  const compare = [{ result: Compare_Result.EQUAL, key: encode(key), ...comparison(expected) }];
  const answer = await caller.ask(KV.method.txn, { compare, success });
  return answered(answer, { done: answer.succeeded });
}

/** A key that does not exist has the revision 0. It has no value that could be compared. */
function comparison(expected: Expected | undefined) {
  const { by, value, modRevision } = expected ?? { by: 'revision', value: '', modRevision: 0 };
  return by === 'value' && value !== ''
    ? { target: Compare_Target.VALUE, targetUnion: { case: 'value' as const, value: encode(value) } }
    : { target: Compare_Target.MOD, targetUnion: { case: 'modRevision' as const, value: BigInt(modRevision) } };
}
