import { writeFile } from 'node:fs/promises';
import { EtcdFailure } from '../etcd/errors.ts';
import { StoreFailure } from '../objectstore/failures.ts';
import type { StoreTrouble } from '../objectstore/store.ts';
import { Failure, type FailureKind } from '../std/failure.ts';

/** Failures that the agent itself detects, beside those of stores and etcd. */
export type AgentTrouble =
  | 'damaged' //   the object is not a whole snapshot
  | 'too-new' //   the target etcd cannot read the snapshot
  | 'too-large' // the snapshot does not fit on the volume
  | 'etcd' //      no member sent a snapshot
  | 'corrupt' //   etcd has raised the alarm CORRUPT
  | 'time' //      the timeout has passed
  | 'stopped' //   the Pod was stopped
  | 'bad-input'
  | 'bug';

const kinds: Readonly<Record<AgentTrouble, FailureKind>> = {
  damaged: 'rejected',
  'too-new': 'rejected',
  'too-large': 'rejected',
  etcd: 'unreachable',
  corrupt: 'rejected',
  time: 'unreachable',
  stopped: 'unreachable',
  'bad-input': 'rejected',
  bug: 'bug',
};

export class AgentFailure extends Failure {
  readonly trouble: AgentTrouble;

  constructor(trouble: AgentTrouble, message: string, options: ErrorOptions & { readonly kind?: FailureKind } = {}) {
    super(options.kind ?? kinds[trouble], message, options);
    this.trouble = trouble;
  }
}

/** The result of an agent, which the operator reads from the termination message. Large numbers are strings. */
export type AgentResult =
  | ({ readonly ok: true; readonly seconds: number } & Readonly<Record<string, unknown>>)
  | {
      readonly ok: false;
      readonly trouble: AgentTrouble | StoreTrouble;
      /** True if a retry may succeed without any change. */
      readonly mayPass: boolean;
      readonly message: string;
    };

export function resultOfFailure(thrown: unknown): AgentResult {
  const failure = Failure.from(thrown);
  return { ok: false, trouble: troubleOf(failure), mayPass: failure.kind === 'unreachable', message: failure.message };
}

function troubleOf(failure: Failure): AgentTrouble | StoreTrouble {
  if (failure instanceof StoreFailure || failure instanceof AgentFailure) return failure.trouble;
  if (failure instanceof EtcdFailure) return 'etcd';
  return failure.kind === 'bug' ? 'bug' : 'bad-input';
}

/** Kubernetes truncates longer termination messages. */
const maxBytes = 4096;
const maxMessageBytes = 2048;

/** Writes the whole result to standard output, and a shortened one to the file. */
export async function writeResult(file: string | undefined, result: AgentResult): Promise<void> {
  process.stdout.write(`${JSON.stringify(result)}\n`);
  if (file !== undefined) await writeFile(file, JSON.stringify(shortened(result)));
}

/** Shortens a result to the length that Kubernetes keeps. A truncated result would not be valid JSON. */
export function shortened(result: AgentResult): AgentResult {
  if (!result.ok) return { ...result, message: beginningOf(result.message, maxMessageBytes) };
  let short = result;
  for (const room of [1024, 256, 0]) {
    if (fits(short)) return short;
    short = withLists(result, room);
  }
  while (!fits(short)) short = withoutLongest(short);
  return short;
}

type Good = AgentResult & { readonly ok: true };

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');
const fits = (result: AgentResult): boolean => bytesOf(result) <= maxBytes;

const withFields = (fields: readonly (readonly [string, unknown])[]): Good => Object.fromEntries(fields) as Good;

const withLists = (result: Good, room: number): Good =>
  withFields(Object.entries(result).map(([name, value]) => [name, Array.isArray(value) ? first(value, room) : value]));

/** The first items of a list that fit into the given number of bytes. */
function first(items: readonly unknown[], room: number): readonly unknown[] {
  const short = items.map((item) => (typeof item === 'string' ? beginningOf(item, room / 2) : item));
  let left = room;
  const end = short.findIndex((item) => (left -= bytesOf(item) + 1) < 0);
  return end < 0 ? short : short.slice(0, end);
}

/** Drops the longest field. The key is dropped first, because the URL contains it. */
function withoutLongest(result: Good): Good {
  const others = Object.entries(result).filter(([name]) => name !== 'ok');
  const [longest] = others.toSorted(([a, one], [b, other]) => rank(b, other) - rank(a, one));
  return withFields(Object.entries(result).filter(([name]) => name !== longest?.[0]));
}

const rank = (name: string, value: unknown): number => (name === 'key' ? Number.POSITIVE_INFINITY : bytesOf(value));

/** The start of a text that takes at most this many bytes as JSON. */
function beginningOf(text: string, limit: number): string {
  let [bytes, end] = [0, 0];
  for (const character of text) {
    bytes += bytesOf(character) - 2;
    if (bytes > limit) break;
    end += character.length;
  }
  return text.slice(0, end);
}
