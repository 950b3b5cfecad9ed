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
  /** How many keys are worked on side by side. */
  readonly count: number;
  /**
   * Whether slow keys are kept from holding workers that others need: then more keys than `count` are worked on side by side,
   * though a bounded number.
   */
  readonly isFair?: boolean;
  readonly clock: Clock;
  /** Told how each pass ended: this is where failures are logged and passes are counted. */
  readonly onOutcome: (key: Key, outcome: Outcome, tookSeconds: number) => void;
  /** Breaks off the passes that are under way; without it they are let finish when we are told to stop. */
  readonly interrupt?: AbortSignal;
}

/** A pass that takes longer than this no longer holds its worker: it goes on beside it. */
const heldMillis = 100;
/** How many passes go on beside one worker: enough for many keys that fall silent together, and still bounded. */
const mostBeside: Readonly<Record<LaneName, number>> = { usual: 8, slow: 0 };
/** From this on a pass was slow, whatever held it up. */
const slowMillis = 1_000;

/**
 * Workers on one queue. Told to stop, they take no more keys, finish their passes and end. Where they are fair, a key that was
 * slow the last time is taken by workers for such keys alone; one that turns out to be slow is left to itself. So a key that
 * waits for an answer in vain does not hold a worker that another key needs.
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

/** One worker: take a key, reconcile it, tell the queue what comes next. */
async function work<Key>(options: WorkerOptions<Key>, lane: LaneName, signal: AbortSignal): Promise<void> {
  const beside = new Set<Promise<void>>();
  const most = options.isFair === true ? mostBeside[lane] : 0;
  for await (const key of options.queue.items(signal, lane)) {
    const pass = workOn(options, key).finally(() => beside.delete(pass));
    beside.add(pass);
    await (beside.size <= most ? endOf(pass, options.clock) : Promise.race(beside));
  }
  await Promise.all(beside);
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

/** A key that is done with is not remembered, not even as slow. */
function laneAfter(outcome: Outcome, tookMillis: number): LaneName {
  if (outcome.is === 'done') return 'usual';
  const isSilent = outcome.is === 'again' && outcome.isSilent === true;
  return isSilent || tookMillis >= slowMillis ? 'slow' : 'usual';
}

/** Waits for a pass, though not for long. */
function endOf(pass: Promise<void>, clock: Clock): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const callOff = clock.after(heldMillis, resolve);
  pass.finally(callOff).then(resolve, reject);
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
 * What was rejected is rejected again until somebody changes something. Mostly there is an event then, but not where what stands
 * in the way belongs to somebody else.
 */
const leastSeconds = ({ kind }: Failure): number => (kind === 'rejected' ? 10 : 0);

function settle<Key>(queue: WorkQueue<Key>, key: Key, outcome: Outcome): void {
  switch (outcome.is) {
    case 'done':
      return queue.forget(key);
    case 'again': // a planned revisit is not a failure, so the waiting starts small again
      return queue.addAgain(key, outcome);
    case 'failed':
      return queue.addWithBackoff(key, retryAfterOf(outcome.failure) ?? leastSeconds(outcome.failure));
    default:
      return outcome satisfies never;
  }
}
