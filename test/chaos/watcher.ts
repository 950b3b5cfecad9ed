import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { KeyClient, type ServiceEndpoint } from './key-client.ts';
import type { KeyChange } from './operation.ts';
import type { Choices } from './seeded.ts';
import { unionOf, type WatchRecord } from './watches.ts';

interface OpenSession {
  readonly from: number;
  readonly events: KeyChange[];
}

interface Watcher {
  readonly name: string;
  readonly prefix: string;
  readonly sessions: OpenSession[];
  /** The longest life of a session in milliseconds; the next session resumes at another member. */
  readonly sessionMillis: number;
}

/** One watcher that is rarely closed, one that is closed often, and one of a single key. All begin at the first revision. */
const watchersOf = (): readonly Watcher[] => [
  { name: 'long watcher', prefix: 'chaos/', sessions: [], sessionMillis: 60_000 },
  { name: 'resuming watcher', prefix: 'chaos/', sessions: [], sessionMillis: 3_000 },
  { name: 'watcher of one key', prefix: 'chaos/1', sessions: [], sessionMillis: 10_000 },
];

export interface Watchers {
  /** Waits until the watchers have received this change, but not forever: a missing event is a verdict, not a time-out. */
  readonly end: (last: KeyChange | undefined) => Promise<readonly WatchRecord[]>;
}

export function startWatchers(service: ServiceEndpoint, choices: Choices): Watchers {
  const stop = new AbortController();
  const watchers = watchersOf();
  const running = Promise.all(watchers.map((watcher) => follow(watcher, { service, choices }, stop.signal)));
  /** The revision that a watcher has to reach: the last, or the newest that any watcher has received for the keys of this one. */
  const lastFor = ({ prefix }: Watcher, { key: lastKey, revision: last }: KeyChange): number =>
    lastKey.startsWith(prefix)
      ? last
      : (unionOf(watchers).findLast(({ key, revision }) => key.startsWith(prefix) && revision < last)?.revision ?? 0);
  const hasSeen = ({ sessions }: Watcher, revision: number): boolean =>
    sessions.some(({ events }) => events.some((event) => event.revision >= revision));
  return {
    end: async (last) => {
      const areDone = async () =>
        last === undefined || watchers.every((watcher) => hasSeen(watcher, lastFor(watcher, last))) || undefined;
      await until('all watchers have received the last write', areDone, { seconds: 60 }).catch(() => undefined);
      stop.abort();
      await running;
      return watchers;
    },
  };
}

async function follow(
  watcher: Watcher,
  { service, choices }: { readonly service: ServiceEndpoint; readonly choices: Choices },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    using life = lifeOf(choices.whole(Math.round(watcher.sessionMillis / 3), watcher.sessionMillis), signal);
    await watchOnce(watcher, service, life.signal);
    await sleep(50, undefined, { signal }).catch(() => undefined);
  }
}

/** A signal that aborts after some time, or with another signal. */
function lifeOf(millis: number, other: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, millis);
  other.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      other.removeEventListener('abort', abort);
    },
  };
}

async function watchOnce({ prefix, sessions }: Watcher, service: ServiceEndpoint, signal: AbortSignal): Promise<void> {
  const from = 1 + Math.max(0, ...sessions.map(({ from: begin, events }) => events.at(-1)?.revision ?? begin - 1));
  const session: OpenSession = { from, events: [] };
  sessions.push(session);
  using client = new KeyClient(service);
  try {
    for await (const change of client.watch(prefix, from, signal)) session.events.push(change);
  } catch {
    // A broken watch is resumed by the next session.
  }
}
