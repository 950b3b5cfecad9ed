import { describe, expect, it } from 'vitest';
import { settled, VirtualClock } from '../../test/support/virtual-clock.ts';
import { done, type Outcome, requeueAfter, waiting } from './outcome.ts';
import { WorkQueue } from './work-queue.ts';
import { type Reconcile, workers } from './worker.ts';

/** Sixteen workers, as many as the operator has. */
function team(reconcile: (clock: VirtualClock) => Reconcile<string>, { count = 16, isFair = true } = {}) {
  const clock = new VirtualClock();
  const queue = new WorkQueue<string>(clock);
  const stop = new AbortController();
  const options = { queue, reconcile: reconcile(clock), count, isFair, clock, onOutcome: () => undefined };
  return { clock, queue, stop, ended: workers(options)(stop.signal) };
}

const sleeping = (clock: VirtualClock, millis: number): Promise<void> =>
  new Promise((resolve) => void clock.after(millis, resolve));

const unresponsive = (seconds = 0.2): Outcome =>
  ({ ...waiting('NoContact', seconds), isUnresponsive: true }) as Outcome;

/** The delay of a healthy key among `count` slow keys that are requeued at once. */
async function delayBeside(count: number, { takes = 2_000, after = 0, ends = unresponsive() } = {}): Promise<number> {
  const passed: number[] = [];
  const { clock, queue, stop, ended } = team((time) => async (key) => {
    if (key !== 'healthy') return sleeping(time, takes).then(() => ends);
    passed.push(time.monotonic());
    return done;
  });
  for (let i = 0; i < count; i++) queue.add(`slow-${i}`);
  await clock.advance(after);
  const asked = clock.monotonic();
  queue.wake('healthy');
  await clock.advance(20_000);
  stop.abort();
  await clock.advance(60_000);
  await ended;
  return (passed[0] ?? Number.POSITIVE_INFINITY) - asked;
}

describe('a healthy key among slow keys', () => {
  it('is not delayed by 64 keys with an unresponsive etcd in the last pass', async () => {
    expect(await delayBeside(64, { after: 10_000 })).toBeLessThan(50);
    expect(await delayBeside(64, { after: 10_000, takes: 300 })).toBeLessThan(50);
  });

  it('is not delayed by 64 keys with a slow last pass', async () => {
    expect(await delayBeside(64, { after: 10_000, ends: requeueAfter(0.2) })).toBeLessThan(50);
  });

  it('is delayed by at most half a second when 64 keys stop answering at once', async () => {
    expect(await delayBeside(64)).toBeLessThan(500);
  });
});

describe('a slow key', () => {
  it('moves to the slow lane, and back to the usual lane after a fast pass', async () => {
    let takes = 2_000;
    const passes: number[] = [];
    const { clock, queue, stop, ended } = team((time) => async (key) => {
      const began = time.monotonic();
      if (key === 'db') await sleeping(time, takes);
      else await sleeping(time, 5_000);
      if (key === 'db') passes.push(time.monotonic() - began);
      return key === 'db' && takes > 1_000 ? unresponsive() : requeueAfter(0.2);
    });
    for (let i = 0; i < 300; i++) queue.add(`other-${i}`);
    queue.add('db');
    await clock.advance(30_000);
    expect(passes.length).toBeGreaterThan(0);
    takes = 10;
    await clock.advance(100_000);
    const before = passes.length;
    queue.wake('db');
    await clock.advance(100);
    expect(passes.length).toBeGreaterThan(before);
    stop.abort();
    await clock.advance(60_000);
    await ended;
  });

  it('never has two concurrent passes, however many events arrive', async () => {
    let [running, most, passes] = [0, 0, 0];
    const { clock, queue, stop, ended } = team((time) => async () => {
      most = Math.max(most, ++running);
      await sleeping(time, 2_000);
      running--;
      passes++;
      return unresponsive();
    });
    for (let i = 0; i < 100; i++) {
      queue.wake('db');
      await clock.advance(100);
    }
    stop.abort();
    await clock.advance(10_000);
    await ended;
    expect({ most, running, passes: passes >= 4 }).toEqual({ most: 1, running: 0, passes: true });
  });
});

/** The most concurrent passes if all keys are slow. */
async function mostAtOnce(how: Parameters<typeof team>[1]): Promise<number> {
  let [running, most] = [0, 0];
  const work =
    (time: VirtualClock): Reconcile<string> =>
    async () => {
      most = Math.max(most, ++running);
      await sleeping(time, 60_000);
      running--;
      return unresponsive();
    };
  const { clock, queue, stop, ended } = team(work, how);
  for (let i = 0; i < 1_000; i++) queue.add(`db-${i}`);
  await clock.advance(500_000);
  stop.abort();
  await clock.advance(120_000);
  await ended;
  return most;
}

describe('concurrent passes', () => {
  it('are bounded, however many keys are slow', async () => {
    const most = await mostAtOnce({});
    expect(most).toBeGreaterThan(64);
    expect(most).toBeLessThanOrEqual(16 * 10);
  });

  it('equal the worker count without isFair', async () => {
    expect(await mostAtOnce({ count: 1, isFair: false })).toBe(1);
  });
});

describe('the queue', () => {
  it('keeps no memory of a finished key', async () => {
    let outcome: Outcome = unresponsive(30);
    const { clock, queue, stop, ended } = team((time) => async () => {
      await sleeping(time, 2_000);
      return outcome;
    });
    queue.wake('db');
    await clock.advance(5_000);
    expect(queue.remembered).toBeGreaterThan(1);
    outcome = done;
    queue.wake('db');
    await clock.advance(5_000);
    await settled();
    expect(queue.remembered).toBe(0);
    stop.abort();
    await ended;
  });
});
