import { describe, expect, it } from 'vitest';
import { settled, VirtualClock } from '../../test/support/virtual-clock.ts';
import { WorkQueue } from './work-queue.ts';

function start(): { clock: VirtualClock; queue: WorkQueue<string>; taken: string[]; stop: AbortController } {
  const clock = new VirtualClock();
  const queue = new WorkQueue<string>(clock);
  const taken: string[] = [];
  const stop = new AbortController();
  const take = async (): Promise<void> => {
    for await (const key of queue.items(stop.signal)) taken.push(key);
  };
  void take();
  return { clock, queue, taken, stop };
}

describe('WorkQueue', () => {
  it('yields each key once, however often it was added, in order of the first add', async () => {
    const queue = new WorkQueue<string>(new VirtualClock());
    for (const key of ['b', 'a', 'b', 'c', 'a']) queue.add(key);
    const items = queue.items(new AbortController().signal);
    const given = [await items.next(), await items.next(), await items.next()].map(({ value }) => value as string);
    expect(given).toEqual(['b', 'a', 'c']);
    expect(queue.size()).toEqual({ ready: 0, working: 3, later: 0 });
  });

  it('yields a key added during its pass again after that pass', async () => {
    const { queue, taken } = start();
    queue.add('a');
    await settled();
    queue.add('a');
    queue.add('a');
    await settled();
    expect(taken).toEqual(['a']);
    queue.finished('a');
    await settled();
    expect(taken).toEqual(['a', 'a']);
    queue.finished('a');
    await settled();
    expect(taken).toEqual(['a', 'a']);
  });

  it('serves two workers at once, and gives no key to both', async () => {
    const queue = new WorkQueue<string>(new VirtualClock());
    const { signal } = new AbortController();
    const [one, two] = [queue.items(signal), queue.items(signal)];
    const waiting = [one.next(), two.next()];
    queue.add('a');
    queue.add('b');
    const given = (await Promise.all(waiting)).map(({ value }) => value as string);
    expect(given.sort()).toEqual(['a', 'b']);
  });

  it('queues a planned key at the earliest requested time', async () => {
    const { clock, queue, taken } = start();
    queue.addAfter('a', 10);
    queue.addAfter('a', 2);
    queue.addAfter('a', 5);
    await clock.advance(1_900);
    expect(taken).toEqual([]);
    await clock.advance(200);
    expect(taken).toEqual(['a']);
    queue.finished('a');
    await clock.advance(60_000);
    expect(taken).toEqual(['a']);
  });

  it('backs off after each failure up to a limit, and resets when forgotten', async () => {
    const clock = new VirtualClock();
    clock.chance = 0.999_999;
    const queue = new WorkQueue<string>(clock, { firstSeconds: 1, mostSeconds: 5 });
    const waits: number[] = [];
    const items = queue.items(new AbortController().signal);
    for (let round = 0; round < 6; round++) {
      if (round === 4) queue.forget('a');
      const before = clock.monotonic();
      queue.addWithBackoff('a');
      const next = items.next();
      while (queue.size().working === 0) await clock.advance(100);
      waits.push(Math.round((clock.monotonic() - before) / 1000));
      await next;
      queue.finished('a');
    }
    expect(waits).toEqual([1, 2, 4, 5, 1, 2]);
  });

  it('waits at least for the Retry-After time', async () => {
    const { clock, queue, taken } = start();
    queue.addWithBackoff('a', 30);
    await clock.advance(29_000);
    expect(taken).toEqual([]);
    await clock.advance(1_500);
    expect(taken).toEqual(['a']);
  });

  it('ends its iterators when stopped, and leaves no key behind that another worker could take', async () => {
    const queue = new WorkQueue<string>(new VirtualClock());
    const [stopped, goesOn] = [new AbortController(), new AbortController()];
    const first = queue.items(stopped.signal).next();
    const second = queue.items(goesOn.signal).next();
    queue.add('a');
    stopped.abort();
    expect((await first).done).toBe(true);
    expect((await second).value).toBe('a');
  });

  it('cancels all timers when stopped', () => {
    const clock = new VirtualClock();
    const queue = new WorkQueue<string>(clock);
    queue.addAfter('a', 100);
    queue.stop();
    expect(clock.planned).toBe(0);
  });
});
