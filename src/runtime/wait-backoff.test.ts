import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import {
  type Outcome,
  requeueAfter,
  requeueAfterStep,
  requeueAround,
  requeueOnStaleCache,
  waiting,
} from './outcome.ts';
import { WaitBackoff } from './wait-backoff.ts';

type Requeue = Outcome & { readonly is: 'requeue' };

const wait = (waitsFor: string, seconds = 0.2): Requeue => waiting(waitsFor, seconds) as Requeue;

function start(): { clock: VirtualClock; backoff: WaitBackoff<string>; next: (outcome: Requeue) => number } {
  const clock = new VirtualClock();
  const backoff = new WaitBackoff<string>(clock);
  return { clock, backoff, next: (outcome) => backoff.secondsUntilRequeue('db', outcome) };
}

/** Ages a wait by ten minutes. */
function grow({ clock, next }: Pick<ReturnType<typeof start>, 'clock' | 'next'>): void {
  while (clock.monotonic() < 600_000) clock.freeze(next(wait('NoContact')) * 1000);
  expect(next(wait('NoContact'))).toBeGreaterThan(20);
}

/** The number of requeues of a wait within these seconds. */
function visitsWithin(seconds: number, outcome: Requeue): number {
  const { clock, next } = start();
  let visits = 0;
  for (; clock.monotonic() < seconds * 1000; visits++) clock.freeze(next(outcome) * 1000);
  return visits;
}

describe('a wait', () => {
  it('is requeued as often as its pass asks for in the first ten seconds, then less and less often', () => {
    expect(visitsWithin(10, wait('NoContact'))).toBe(50);
    expect(visitsWithin(60, wait('NoContact'))).toBeLessThan(85);
    expect(visitsWithin(3600, wait('NoContact')) - visitsWithin(1800, wait('NoContact'))).toBeLessThan(75);
  });

  it('is requeued after a fifth of its age, and after 30 s at the latest', () => {
    const { clock, next } = start();
    for (let age = 0; age < 600; age = clock.monotonic() / 1000) {
      const seconds = next(wait('NoContact'));
      expect(seconds).toBeLessThanOrEqual(Math.max(0.2, Math.min(30, age / 5)));
      clock.freeze(seconds * 1000);
    }
  });

  it('backs off even if its first delay is long', () => {
    const { clock, next } = start();
    clock.chance = 1;
    expect(next(wait('Paused', 5))).toBe(5);
    for (let i = 0; i < 20; i++) {
      clock.freeze(30_000);
      next(wait('Paused', 5));
    }
    expect(next(wait('Paused', 5))).toBe(30);
  });

  it.each([
    [
      'the end of the wait',
      ({ next, clock }: ReturnType<typeof start>) => [next(wait('Rolling')), clock.freeze(95_000)],
    ],
    ['a step', ({ next }: ReturnType<typeof start>) => next(requeueAfter(0.02) as Requeue)],
    ['an event', ({ backoff }: ReturnType<typeof start>) => backoff.restart('db')],
  ])('restarts its backoff after %s', (_, happens) => {
    const life = start();
    grow(life);
    happens(life);
    expect(life.next(wait('NoContact'))).toBe(0.2);
  });

  it('has its own backoff; two alternating waits both back off', () => {
    const life = start();
    grow(life);
    expect(life.next(wait('Rolling'))).toBe(0.2);
    expect(life.next(wait('NoContact'))).toBeGreaterThan(20);
  });

  it('keeps its age over a pass that observed nothing because the cache was behind', () => {
    const life = start();
    grow(life);
    expect(life.next(requeueOnStaleCache as Requeue)).toBe(0.02);
    expect(life.next(wait('NoContact'))).toBeGreaterThan(20);
  });
});

describe('a step', () => {
  const step = (name: string): Requeue => requeueAfterStep(name, 0.02) as Requeue;

  it('backs off if it repeats without an event, alone or alternating with other steps', () => {
    const { clock, next } = start();
    let taken = 0;
    for (; clock.monotonic() < 60_000; taken++) clock.freeze(next(step(taken % 2 === 0 ? 'relabel' : 'forbid')) * 1000);
    expect(taken).toBeLessThan(60);
    expect(next(step('relabel'))).toBeGreaterThan(8);
    expect(next(step('remove'))).toBe(0.02);
  });

  it('restarts its backoff after an event', () => {
    const { clock, next, backoff } = start();
    for (let i = 0; i < 20; i++) clock.freeze(next(step('relabel')) * 1000 + 1000);
    backoff.restart('db');
    expect(next(step('relabel'))).toBe(0.02);
  });

  it('restarts the backoff of waits if it is new, but not if it repeats', () => {
    const life = start();
    grow(life);
    life.next(step('relabel'));
    expect(life.next(wait('NoContact'))).toBe(0.2);
    life.clock.freeze(60_000);
    life.next(step('relabel'));
    expect(life.next(wait('NoContact'))).toBeGreaterThan(5);
  });
});

describe('jitter', () => {
  it('is added to approximate requeues and to long waits, not to exact ones', () => {
    const { clock, next } = start();
    const at = (chance: number, outcome: Requeue): number => {
      clock.chance = chance;
      return next(outcome);
    };
    expect([0, 0.5, 1].map((chance) => at(chance, requeueAround(10) as Requeue)).map(Math.round)).toEqual([8, 10, 12]);
    grow({ clock, next });
    expect([0, 1].map((chance) => at(chance, wait('NoContact')))).toEqual([22.5, 30]);
    expect([0, 1].map((chance) => at(chance, requeueAfter(10) as Requeue))).toEqual([10, 10]);
  });
});
