import { writeFile } from 'node:fs/promises';
import { EtcdFailure } from '../etcd/errors.ts';
import { Failure, type FailureKind } from '../std/failure.ts';
import { StoreFailure } from '../storage/failures.ts';
import type { StoreTrouble } from '../storage/store.ts';

/** What an agent finds wrong itself, beside what a store or etcd says. */
export type AgentTrouble =
  | 'damaged' //   the object is no whole snapshot
  | 'too-new' //   the target etcd could not read it
  | 'too-large' // it does not fit where it is to go
  | 'etcd' //      no member gave a snapshot
  | 'corrupt' //   etcd has raised the alarm CORRUPT
  | 'time' //      it took longer than it may
  | 'stopped' //   the pod was told to end
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

/** What an agent leaves behind for whoever started it. Numbers that may be large are text. */
export type AgentResult =
  | ({ readonly ok: true; readonly seconds: number } & Readonly<Record<string, unknown>>)
  | {
      readonly ok: false;
      readonly trouble: AgentTrouble | StoreTrouble;
      /** Whether it may go well another time, with nothing changed. */
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

/** Kubernetes keeps no more than this of a termination message. */
const mostBytes = 4096;
const mostOfMessage = 2048;

/** All of it on standard output; in the file, as much as can be read from there again. */
export async function leaveResult(file: string | undefined, result: AgentResult): Promise<void> {
  process.stdout.write(`${JSON.stringify(result)}\n`);
  if (file !== undefined) await writeFile(file, JSON.stringify(shortened(result)));
}

/** Cut in the middle, it would not be JSON any more, and say nothing at all. */
export function shortened(result: AgentResult): AgentResult {
  if (!result.ok) return { ...result, message: beginningOf(result.message, mostOfMessage) };
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
const fits = (result: AgentResult): boolean => bytesOf(result) <= mostBytes;

const withFields = (fields: readonly (readonly [string, unknown])[]): Good => Object.fromEntries(fields) as Good;

const withLists = (result: Good, room: number): Good =>
  withFields(Object.entries(result).map(([name, value]) => [name, Array.isArray(value) ? first(value, room) : value]));

/** Its first items, as far as there is room for them. */
function first(items: readonly unknown[], room: number): readonly unknown[] {
  const short = items.map((item) => (typeof item === 'string' ? beginningOf(item, room / 2) : item));
  let left = room;
  const end = short.findIndex((item) => (left -= bytesOf(item) + 1) < 0);
  return end < 0 ? short : short.slice(0, end);
}

/** Where names in a store are that long, the key goes first: the URL says the same. */
function withoutLongest(result: Good): Good {
  const others = Object.entries(result).filter(([name]) => name !== 'ok');
  const [longest] = others.toSorted(([a, one], [b, other]) => rank(b, other) - rank(a, one));
  return withFields(Object.entries(result).filter(([name]) => name !== longest?.[0]));
}

const rank = (name: string, value: unknown): number => (name === 'key' ? Number.POSITIVE_INFINITY : bytesOf(value));

/** As much of a text as takes so many bytes when it is written down. */
function beginningOf(text: string, most: number): string {
  let [bytes, end] = [0, 0];
  for (const sign of text) {
    bytes += bytesOf(sign) - 2;
    if (bytes > most) break;
    end += sign.length;
  }
  return text.slice(0, end);
}
