import { describe, expect, it } from 'vitest';
import { settled, VirtualClock } from '../../test/support/virtual-clock.ts';
import { again, done, type Outcome, waiting } from './outcome.ts';
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

const lasting = (clock: VirtualClock, millis: number): Promise<void> =>
  new Promise((resolve) => void clock.after(millis, resolve));

const silent = (seconds = 0.2): Outcome => ({ ...waiting('NoContact', seconds), isSilent: true }) as Outcome;

/** How long a healthy key waits for its pass, beside keys whose passes take this long and come back soon. */
async function delayBeside(count: number, { takes = 2_000, after = 0, ends = silent() } = {}): Promise<number> {
  const passed: number[] = [];
  const { clock, queue, stop, ended } = team((time) => async (key) => {
    if (key !== 'healthy') return lasting(time, takes).then(() => ends);
    passed.push(time.monotonic());
    return done;
  });
  for (let i = 0; i < count; i++) queue.add(`silent-${i}`);
  await clock.advance(after);
  const asked = clock.monotonic();
  queue.wake('healthy');
  await clock.advance(20_000);
  stop.abort();
  await clock.advance(60_000);
  await ended;
  return (passed[0] ?? Number.POSITIVE_INFINITY) - asked;
}

describe('a healthy key', () => {
  it('waits for none of 64 whose etcd did not answer the last time', async () => {
    expect(await delayBeside(64, { after: 10_000 })).toBeLessThan(50);
    expect(await delayBeside(64, { after: 10_000, takes: 300 })).toBeLessThan(50);
  });

  it('waits for none of 64 whose passes were slow the last time, whatever held them up', async () => {
    expect(await delayBeside(64, { after: 10_000, ends: again(0.2) })).toBeLessThan(50);
  });

  it('waits for half a second at most where 64 stop answering at once', async () => {
    expect(await delayBeside(64)).toBeLessThan(500);
  });
});

describe('a key that was slow', () => {
  it('has workers of its own, and comes back to the others when it is slow no more', async () => {
    let takes = 2_000;
    const passes: number[] = [];
    const { clock, queue, stop, ended } = team((time) => async (key) => {
      const began = time.monotonic();
      if (key === 'db') await lasting(time, takes);
      else await lasting(time, 5_000);
      if (key === 'db') passes.push(time.monotonic() - began);
      return key === 'db' && takes > 1_000 ? silent() : again(0.2);
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

  it('is never worked on twice at once, however many events it has', async () => {
    let [running, most, passes] = [0, 0, 0];
    const { clock, queue, stop, ended } = team((time) => async () => {
      most = Math.max(most, ++running);
      await lasting(time, 2_000);
      running--;
      passes++;
      return silent();
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

/** How many passes are under way at once where all keys are slow. */
async function mostAtOnce(how: Parameters<typeof team>[1]): Promise<number> {
  let [running, most] = [0, 0];
  const work =
    (time: VirtualClock): Reconcile<string> =>
    async () => {
      most = Math.max(most, ++running);
      await lasting(time, 60_000);
      running--;
      return silent();
    };
  const { clock, queue, stop, ended } = team(work, how);
  for (let i = 0; i < 1_000; i++) queue.add(`db-${i}`);
  await clock.advance(500_000);
  stop.abort();
  await clock.advance(120_000);
  await ended;
  return most;
}

describe('passes at once', () => {
  it('are bounded, however many keys are slow', async () => {
    const most = await mostAtOnce({});
    expect(most).toBeGreaterThan(64);
    expect(most).toBeLessThanOrEqual(16 * 10);
  });

  it('are as many as there are workers, where these need not be fair', async () => {
    expect(await mostAtOnce({ count: 1, isFair: false })).toBe(1);
  });
});

describe('the queue', () => {
  it('keeps nothing of a key that is done with', async () => {
    let outcome: Outcome = silent(30);
    const { clock, queue, stop, ended } = team((time) => async () => {
      await lasting(time, 2_000);
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
