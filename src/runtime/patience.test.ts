import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { acted, again, around, notYet, type Outcome, waiting } from './outcome.ts';
import { Patience } from './patience.ts';

type Again = Outcome & { readonly is: 'again' };

const wait = (waitsFor: string, seconds = 0.2): Again => waiting(waitsFor, seconds) as Again;

function start(): { clock: VirtualClock; patience: Patience<string>; next: (outcome: Again) => number } {
  const clock = new VirtualClock();
  const patience = new Patience<string>(clock);
  return { clock, patience, next: (outcome) => patience.secondsUntilVisit('db', outcome) };
}

/** Lets a wait last for ten minutes. */
function grow({ clock, next }: Pick<ReturnType<typeof start>, 'clock' | 'next'>): void {
  while (clock.monotonic() < 600_000) clock.freeze(next(wait('NoContact')) * 1000);
  expect(next(wait('NoContact'))).toBeGreaterThan(20);
}

/** How often a wait is looked at within these seconds. */
function visitsWithin(seconds: number, outcome: Again): number {
  const { clock, next } = start();
  let visits = 0;
  for (; clock.monotonic() < seconds * 1000; visits++) clock.freeze(next(outcome) * 1000);
  return visits;
}

describe('a wait', () => {
  it('is looked at as often as its pass asks for in the first ten seconds, and then ever less often', () => {
    expect(visitsWithin(10, wait('NoContact'))).toBe(50);
    expect(visitsWithin(60, wait('NoContact'))).toBeLessThan(85);
    expect(visitsWithin(3600, wait('NoContact')) - visitsWithin(1800, wait('NoContact'))).toBeLessThan(75);
  });

  it('is looked at again after a fifth of its age at the latest, and after 30 s', () => {
    const { clock, next } = start();
    for (let age = 0; age < 600; age = clock.monotonic() / 1000) {
      const seconds = next(wait('NoContact'));
      expect(seconds).toBeLessThanOrEqual(Math.max(0.2, Math.min(30, age / 5)));
      clock.freeze(seconds * 1000);
    }
  });

  it('that need not be looked at often at first still becomes rarer', () => {
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
    ['an end of it', ({ next, clock }: ReturnType<typeof start>) => [next(wait('Rolling')), clock.freeze(95_000)]],
    ['a step', ({ next }: ReturnType<typeof start>) => next(again(0.02) as Again)],
    ['an event', ({ patience }: ReturnType<typeof start>) => patience.restart('db')],
  ])('begins anew with %s', (_, happens) => {
    const life = start();
    grow(life);
    happens(life);
    expect(life.next(wait('NoContact'))).toBe(0.2);
  });

  it('for something else is another one; two that take turns become rarer both', () => {
    const life = start();
    grow(life);
    expect(life.next(wait('Rolling'))).toBe(0.2);
    expect(life.next(wait('NoContact'))).toBeGreaterThan(20);
  });

  it('goes on where a pass could not look, because caches were late', () => {
    const life = start();
    grow(life);
    expect(life.next(notYet(0.02) as Again)).toBe(0.02);
    expect(life.next(wait('NoContact'))).toBeGreaterThan(20);
  });
});

describe('a step', () => {
  const step = (name: string): Again => acted(name, 0.02) as Again;

  it('that is taken again and again without an event becomes rarer, alone or by turns with others', () => {
    const { clock, next } = start();
    let taken = 0;
    for (; clock.monotonic() < 60_000; taken++) clock.freeze(next(step(taken % 2 === 0 ? 'relabel' : 'seal')) * 1000);
    expect(taken).toBeLessThan(60);
    expect(next(step('relabel'))).toBeGreaterThan(8);
    expect(next(step('remove'))).toBe(0.02);
  });

  it('begins anew with an event', () => {
    const { clock, next, patience } = start();
    for (let i = 0; i < 20; i++) clock.freeze(next(step('relabel')) * 1000 + 1000);
    patience.restart('db');
    expect(next(step('relabel'))).toBe(0.02);
  });

  it('that is new has waits begin anew, one that is repeated does not', () => {
    const life = start();
    grow(life);
    life.next(step('relabel'));
    expect(life.next(wait('NoContact'))).toBe(0.2);
    life.clock.freeze(60_000);
    life.next(step('relabel'));
    expect(life.next(wait('NoContact'))).toBeGreaterThan(5);
  });
});

describe('visits of many keys', () => {
  it('are spread where they need not be on time', () => {
    const { clock, next } = start();
    const at = (chance: number, outcome: Again): number => {
      clock.chance = chance;
      return next(outcome);
    };
    expect([0, 0.5, 1].map((chance) => at(chance, around(10) as Again)).map(Math.round)).toEqual([8, 10, 12]);
    grow({ clock, next });
    expect([0, 1].map((chance) => at(chance, wait('NoContact')))).toEqual([22.5, 30]);
    expect([0, 1].map((chance) => at(chance, again(10) as Again))).toEqual([10, 10]);
  });
});
