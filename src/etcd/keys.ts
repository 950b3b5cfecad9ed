import type { Caller, CallOptions } from './call.ts';
import { EtcdFailure } from './errors.ts';
import {
  Compare_Result,
  Compare_Target,
  type Event,
  Event_EventType,
  KV,
  Watch,
  type WatchResponse,
} from './gen/etcd_pb.ts';
import { meaningOf, refusalIn } from './refusals.ts';
import { headerOf, type KeyEvent, type KeyValue, pairOf } from './types.ts';

/** One key, or with `prefix` all that begin with it. */
export interface KeySelection {
  readonly key: string;
  readonly prefix?: boolean;
}

/** The key-value API. The operator itself uses little of it. */
export interface Keys {
  /** Returns the revision of the write. */
  readonly put: (key: string, value: string | Uint8Array, options?: CallOptions) => Promise<bigint>;
  /** Returns true if the key did not exist and was created. */
  readonly putIfAbsent: (key: string, value: string | Uint8Array, options?: CallOptions) => Promise<boolean>;
  readonly get: (key: string, options?: CallOptions) => Promise<KeyValue | undefined>;
  readonly list: (selection: KeySelection, options?: CallOptions) => Promise<readonly KeyValue[]>;
  readonly count: (selection: KeySelection, options?: CallOptions) => Promise<bigint>;
  /** Returns the number of deleted keys. */
  readonly deleteRange: (selection: KeySelection, options?: CallOptions) => Promise<bigint>;
  /** Compacts history up to a revision; `physical` waits until the space is reusable. */
  readonly compact: (revision: bigint, options?: CallOptions & { readonly physical?: boolean }) => Promise<void>;
  /** Watches from a revision, or from now. The time-out covers only the start. */
  readonly watch: (
    selection: KeySelection,
    options?: CallOptions & { readonly fromRevision?: bigint },
  ) => AsyncIterable<KeyEvent>;
}

export function keysOf(caller: Caller): Keys {
  const { range, put, txn, deleteRange, compact } = KV.method;
  return {
    put: async (key, value, options) =>
      headerOf(await caller.ask(put, { key: bytes(key), value: bytes(value) }, options)).revision,
    putIfAbsent: async (key, value, options) =>
      (await caller.ask(txn, creation(bytes(key), bytes(value)), options)).succeeded,
    get: async (key, options) =>
      (await caller.ask(range, { key: bytes(key) }, { ...options, bulk: true })).kvs.map(pairOf)[0],
    list: async (selection, options) =>
      (await caller.ask(range, rangeOf(selection), { ...options, bulk: true })).kvs.map(pairOf),
    count: async (selection, options) =>
      (await caller.ask(range, { ...rangeOf(selection), countOnly: true }, options)).count,
    deleteRange: async (selection, options) => (await caller.ask(deleteRange, rangeOf(selection), options)).deleted,
    compact: async (revision, { physical = false, ...options } = {}) => {
      await caller.ask(compact, { revision, physical }, options);
    },
    watch: (selection, options) => watchOf(caller, selection, options),
  };
}

type WatchOptions = NonNullable<Parameters<Keys['watch']>[1]>;

async function* watchOf(
  caller: Caller,
  selection: KeySelection,
  { fromRevision = 0n, ...options }: WatchOptions = {},
): AsyncGenerator<KeyEvent, void, undefined> {
  // An outdated token ends a watch with a version-dependent message. A read first renews the token.
  await caller.ask(KV.method.range, { ...rangeOf(selection), countOnly: true }, options);
  const value = { ...rangeOf(selection), startRevision: fromRevision };
  const request = { requestUnion: { case: 'createRequest' as const, value } };
  for await (const answer of caller.stream(Watch.method.watch, request, { ...options, mayIdle: true })) {
    // Before 3.3 `canceled` is not set if the watch starts in compacted history.
    if (answer.canceled || answer.compactRevision > 0n) throw endOfWatch(answer);
    yield* answer.events.flatMap(eventOf);
  }
}

const eventOf = ({ type, kv }: Event): readonly KeyEvent[] =>
  kv === undefined ? [] : [{ kind: type === Event_EventType.DELETE ? 'delete' : 'put', pair: pairOf(kv) }];

function endOfWatch({ compactRevision, cancelReason }: WatchResponse): EtcdFailure {
  const message = compactRevision > 0n ? `history before ${compactRevision} is compacted` : cancelReason;
  const refusal = compactRevision > 0n ? 'compacted' : refusalIn(cancelReason);
  const kind = refusal === undefined ? 'rejected' : meaningOf(refusal).kind;
  return new EtcdFailure(kind, `etcd ended the watch: ${message}`, { refusal, mayBeDone: false });
}

const creation = (key: Uint8Array, value: Uint8Array) => ({
  compare: [
    {
      result: Compare_Result.EQUAL,
      target: Compare_Target.CREATE,
      key,
      targetUnion: { case: 'createRevision' as const, value: 0n },
    },
  ],
  success: [{ request: { case: 'requestPut' as const, value: { key, value } } }],
});

const bytes = (text: string | Uint8Array): Uint8Array =>
  typeof text === 'string' ? new TextEncoder().encode(text) : text;

function rangeOf({ key, prefix = false }: KeySelection): { key: Uint8Array; rangeEnd: Uint8Array } {
  const start = bytes(key);
  return { key: start, rangeEnd: prefix ? endOfPrefix(start) : new Uint8Array() };
}

/** The range end of a prefix: the prefix with its last byte incremented, or "\0" (all keys) if that is impossible. */
function endOfPrefix(prefix: Uint8Array): Uint8Array {
  const last = prefix.findLastIndex((byte) => byte < 0xff);
  if (last < 0) return new Uint8Array(1);
  const end = prefix.slice(0, last + 1);
  end[last] = (end[last] ?? 0) + 1;
  return end;
}
