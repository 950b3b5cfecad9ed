import { describe, expect, it } from 'vitest';
import { settled, VirtualClock } from '../../test/support/virtual-clock.ts';
import { ApiFailure } from '../kube/errors.ts';
import { Failure } from '../std/failure.ts';
import { again, done, type Outcome } from './outcome.ts';
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

/** The passes of `key` within an hour in which each pass ends the same way. */
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
  it('come back after the time a pass asked for, and never by themselves after done', async () => {
    expect(await passesWithin(61, () => again(10))).toBe(7);
    expect(await passesWithin(3600, () => done)).toBe(1);
  });

  it('come back to what failed, and less often to what was rejected', async () => {
    const fail = (failure: Failure) => (): Outcome => {
      throw failure;
    };
    expect(await passesWithin(3600, fail(new Failure('unreachable', 'x')))).toBeGreaterThan(10);
    expect(await passesWithin(3600, fail(new Failure('forbidden', 'x')))).toBeGreaterThan(10);
    expect(await passesWithin(99, fail(new Failure('rejected', 'x')))).toBeGreaterThan(1);
    expect(await passesWithin(99, fail(new Failure('rejected', 'x')))).toBeLessThan(11);
    expect(await passesWithin(99, fail(new ApiFailure('unreachable', 'x', { retryAfterSeconds: 50 })))).toBe(2);
  });

  it('take an exception for a failure of ours, and go on', async () => {
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

  it('are not held up by one key that takes long, and never work on one key twice at once', async () => {
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

  it('finish their pass when told to stop, and break it off when interrupted', async () => {
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
