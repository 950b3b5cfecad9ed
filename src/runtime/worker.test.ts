import { describe, expect, it } from 'vitest';
import { settled, VirtualClock } from '../../test/support/virtual-clock.ts';
import { ApiFailure } from '../kube/errors.ts';
import { Failure } from '../std/failure.ts';
import { done, type Outcome, requeueAfter } from './outcome.ts';
import { WorkQueue } from './work-queue.ts';
import { type Reconcile, workers } from './worker.ts';

interface Team {
  readonly clock: VirtualClock;
  readonly queue: WorkQueue<string>;
  readonly outcomes: [string, Outcome][];
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

function team(reconcile: Reconcile<string>, interrupt?: AbortSignal): Team {
  const clock = new VirtualClock();
  const queue = new WorkQueue<string>(clock);
  const outcomes: [string, Outcome][] = [];
  const stop = new AbortController();
  const onOutcome = (key: string, outcome: Outcome): void => void outcomes.push([key, outcome]);
  const options = { queue, reconcile, count: 2, clock, onOutcome, ...(interrupt && { interrupt }) };
  return { clock, queue, outcomes, stop, ended: workers(options)(stop.signal) };
}

/** The number of passes of `key` within so many seconds if every pass has this outcome. */
async function passesWithin(seconds: number, end: () => Outcome): Promise<number> {
  const { clock, queue, outcomes, stop, ended } = team(async () => end());
  queue.add('a');
  await clock.advance(seconds * 1000);
  stop.abort();
  await ended;
  expect(clock.planned).toBe(0);
  return outcomes.length;
}

describe('workers', () => {
  it('requeue a key after the time its pass asked for, and never after done', async () => {
    expect(await passesWithin(61, () => requeueAfter(10))).toBe(7);
    expect(await passesWithin(3600, () => done)).toBe(1);
  });

  it('retry a failed pass, and a rejected one less often', async () => {
    const fail = (failure: Failure) => (): Outcome => {
      throw failure;
    };
    expect(await passesWithin(3600, fail(new Failure('unreachable', 'x')))).toBeGreaterThan(10);
    expect(await passesWithin(3600, fail(new Failure('forbidden', 'x')))).toBeGreaterThan(10);
    expect(await passesWithin(99, fail(new Failure('rejected', 'x')))).toBeGreaterThan(1);
    expect(await passesWithin(99, fail(new Failure('rejected', 'x')))).toBeLessThan(11);
    expect(await passesWithin(99, fail(new ApiFailure('unreachable', 'x', { retryAfterSeconds: 50 })))).toBe(2);
  });

  it('report an exception as a bug, and continue', async () => {
    const { queue, outcomes } = team(async (key) => {
      if (key === 'bad') throw new TypeError('x is undefined');
      return done;
    });
    queue.add('bad');
    await settled();
    queue.add('good');
    await settled();
    expect(outcomes).toMatchObject([
      ['bad', { is: 'failed', failure: { kind: 'bug' } }],
      ['good', { is: 'done' }],
    ]);
  });

  it('are not blocked by one slow key, and never run two passes of one key at once', async () => {
    const { promise: slow, resolve } = Promise.withResolvers<Outcome>();
    const running: string[] = [];
    const { queue, outcomes } = team(async (key) => {
      running.push(key);
      return key === 'slow' ? await slow : done;
    });
    for (const key of ['slow', 'a', 'b', 'slow']) queue.add(key);
    await settled();
    queue.add('slow');
    await settled();
    expect(running).toEqual(['slow', 'a', 'b']);
    resolve(done);
    await settled();
    expect(running).toEqual(['slow', 'a', 'b', 'slow']);
    expect(outcomes).toHaveLength(4);
  });

  it('finish their pass after a stop, and abort it after an interrupt', async () => {
    const interrupt = new AbortController();
    const { promise: slow, resolve } = Promise.withResolvers<Outcome>();
    let seen: AbortSignal | undefined;
    const { queue, stop, ended, outcomes } = team((_, signal) => {
      seen = signal;
      return slow;
    }, interrupt.signal);
    queue.add('a');
    await settled();
    stop.abort();
    queue.add('b');
    await settled();
    expect(seen?.aborted).toBe(false);
    interrupt.abort();
    expect(seen?.aborted).toBe(true);
    resolve(done);
    await ended;
    expect(outcomes.map(([key]) => key)).toEqual(['a']);
  });
});
