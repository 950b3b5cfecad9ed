import { retryAfterOf } from '../kube/errors.ts';
import { Failure } from '../std/failure.ts';
import type { Clock } from './clock.ts';
import { type Runnable, runTogether } from './manager.ts';
import { failed, type Outcome } from './outcome.ts';
import type { LaneName, WorkQueue } from './work-queue.ts';

/** One pass over one key. `signal` aborts when the pass may no longer change anything. */
export type Reconcile<Key> = (key: Key, signal: AbortSignal) => Promise<Outcome>;

export interface WorkerOptions<Key> {
  readonly queue: WorkQueue<Key>;
  readonly reconcile: Reconcile<Key>;
  /** The number of concurrent passes. */
  readonly count: number;
  /** Slow keys get workers of their own. Concurrent passes then exceed `count`, up to a fixed bound. */
  readonly isFair?: boolean;
  readonly clock: Clock;
  /** Called after each pass, to log failures and count passes. */
  readonly onOutcome: (key: Key, outcome: Outcome, tookSeconds: number) => void;
  /** Aborts running passes. Without it, passes run to their end after a stop. */
  readonly interrupt?: AbortSignal;
}

/** A longer pass moves to the background and frees its worker. */
const holdMillis = 100;
/** The most background passes of one worker: enough for many clusters that stop answering together. */
const mostInBackground: Readonly<Record<LaneName, number>> = { usual: 8, slow: 0 };
/** A pass of at least this duration is slow. */
const slowMillis = 1_000;

/**
 * Workers of one queue. After a stop they take no more keys, finish their passes and end.
 *
 * With `isFair`, a key with a slow last pass is taken only by workers of the slow lane. A pass that turns out to be
 * slow continues in the background. An etcd that does not answer therefore blocks no other key.
 */
export const workers =
  <Key>(options: WorkerOptions<Key>): Runnable =>
  async (signal) => {
    const inLane = (lane: LaneName): readonly Runnable[] =>
      Array.from({ length: options.count }, (): Runnable => (stop) => work(options, lane, stop));
    try {
      await runTogether([...inLane('usual'), ...(options.isFair === true ? inLane('slow') : [])], signal);
    } finally {
      options.queue.stop();
    }
  };

/** One worker: takes a key, reconciles it and requeues it by the outcome. */
async function work<Key>(options: WorkerOptions<Key>, lane: LaneName, signal: AbortSignal): Promise<void> {
  const running = new Set<Promise<void>>();
  const most = options.isFair === true ? mostInBackground[lane] : 0;
  for await (const key of options.queue.items(signal, lane)) {
    const pass = workOn(options, key).finally(() => running.delete(pass));
    running.add(pass);
    await (running.size <= most ? waitBriefly(pass, options.clock) : Promise.race(running));
  }
  await Promise.all(running);
}

async function workOn<Key>(options: WorkerOptions<Key>, key: Key): Promise<void> {
  const { queue, clock, onOutcome, isFair = false } = options;
  const began = clock.monotonic();
  const outcome = await attempt(options, key);
  const tookMillis = clock.monotonic() - began;
  queue.finished(key, isFair ? laneAfter(outcome, tookMillis) : 'usual');
  settle(queue, key, outcome);
  onOutcome(key, outcome, tookMillis / 1000);
}

/** Nothing is kept of a finished key, so it returns to the usual lane. */
function laneAfter(outcome: Outcome, tookMillis: number): LaneName {
  if (outcome.is === 'done') return 'usual';
  const isUnresponsive = outcome.is === 'requeue' && outcome.isUnresponsive === true;
  return isUnresponsive || tookMillis >= slowMillis ? 'slow' : 'usual';
}

/** Waits for the end of a pass, at most `holdMillis`. */
function waitBriefly(pass: Promise<void>, clock: Clock): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cancel = clock.after(holdMillis, resolve);
  pass.finally(cancel).then(resolve, reject);
  return promise;
}

const never = new AbortController().signal;

async function attempt<Key>({ reconcile, interrupt = never }: WorkerOptions<Key>, key: Key): Promise<Outcome> {
  try {
    return await reconcile(key, interrupt);
  } catch (thrown) {
    return failed(Failure.from(thrown));
  }
}

/**
 * A rejected request is rejected again until its cause changes. That change mostly sends an event; an object outside
 * our watches sends none, so the key is retried all the same.
 */
const leastSeconds = ({ kind }: Failure): number => (kind === 'rejected' ? 10 : 0);

function settle<Key>(queue: WorkQueue<Key>, key: Key, outcome: Outcome): void {
  switch (outcome.is) {
    case 'done':
      return queue.forget(key);
    case 'requeue': // a planned requeue is no failure: the failure backoff is reset
      return queue.requeue(key, outcome);
    case 'failed':
      return queue.addWithBackoff(key, retryAfterOf(outcome.failure) ?? leastSeconds(outcome.failure));
    default:
      return outcome satisfies never;
  }
}
