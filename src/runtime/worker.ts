import { retryAfterOf } from '../kube/errors.ts';
import { Failure } from '../std/failure.ts';
import type { Clock } from './clock.ts';
import { type Runnable, runTogether } from './manager.ts';
import { failed, type Outcome } from './outcome.ts';
import type { WorkQueue } from './work-queue.ts';

/** One pass over one key. `signal` aborts when the pass may no longer change anything. */
export type Reconcile<Key> = (key: Key, signal: AbortSignal) => Promise<Outcome>;

export interface WorkerOptions<Key> {
  readonly queue: WorkQueue<Key>;
  readonly reconcile: Reconcile<Key>;
  /** How many keys are worked on side by side. */
  readonly count: number;
  readonly clock: Clock;
  /** Told how each pass ended: this is where failures are logged and passes are counted. */
  readonly onOutcome: (key: Key, outcome: Outcome, tookSeconds: number) => void;
  /** Breaks off the passes that are under way; without it they are let finish when we are told to stop. */
  readonly interrupt?: AbortSignal;
}

/** Workers on one queue. Told to stop, they take no more keys, finish their passes and end. */
export const workers =
  <Key>(options: WorkerOptions<Key>): Runnable =>
  async (signal) => {
    try {
      const each = Array.from({ length: options.count }, (): Runnable => (stop) => work(options, stop));
      await runTogether(each, signal);
    } finally {
      options.queue.stop();
    }
  };

/** One worker: take a key, reconcile it, tell the queue what comes next. */
async function work<Key>(options: WorkerOptions<Key>, signal: AbortSignal): Promise<void> {
  const { queue, clock, onOutcome } = options;
  for await (const key of queue.items(signal)) {
    const began = clock.monotonic();
    const outcome = await attempt(options, key);
    queue.finished(key);
    settle(queue, key, outcome);
    onOutcome(key, outcome, (clock.monotonic() - began) / 1000);
  }
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
 * What was rejected is rejected again until somebody changes something. Mostly there is an event then, but not where what stands
 * in the way belongs to somebody else.
 */
const leastSeconds = ({ kind }: Failure): number => (kind === 'rejected' ? 10 : 0);

function settle<Key>(queue: WorkQueue<Key>, key: Key, outcome: Outcome): void {
  switch (outcome.is) {
    case 'done':
      return queue.forget(key);
    case 'again': // a planned revisit is not a failure, so the waiting starts small again
      queue.forget(key);
      return queue.addAfter(key, outcome.afterSeconds);
    case 'failed':
      return queue.addWithBackoff(key, retryAfterOf(outcome.failure) ?? leastSeconds(outcome.failure));
    default:
      return outcome satisfies never;
  }
}
