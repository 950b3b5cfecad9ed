import { describe, expect, it } from 'vitest';
import type { Declared } from '../../test/support/story-catalog.ts';
import { type Choice, type Circumstances, choose, pairsOf } from './choose.ts';
import { type Entry, emptyLedger, type Ledger } from './ledger.ts';

const story = (title: string, where: Declared['where'] = 'as on the lab'): Declared => ({
  title,
  where,
  file: `${title}.e2e.ts`,
});

const circumstances = (given: Partial<Circumstances> = {}): Circumstances => ({
  ledger: emptyLedger,
  commit: 'abc',
  touched: new Set<string>(),
  isCore: () => false,
  isDone: () => false,
  familyOf: () => undefined,
  cpuSeconds: { lab: 27, cluster: 1000 },
  ...given,
});

/** A ledger after ten landings, in which each story last ran so many landings ago. */
const ledgerOf = (ages: Readonly<Record<string, number>>): Ledger => ({
  ...emptyLedger,
  landings: Array.from({ length: 10 }, (_, index) => `c${index}`),
  stories: Object.fromEntries(Object.entries(ages).map(([key, age]) => [key, entry(10 - age)])),
});
const entry = (landings: number): Entry => ({ commit: 'c', landings, wallSeconds: 20, cpuSeconds: 9 });
const titles = ({ core, others }: Choice): readonly string[] => [...core, ...others].map(({ title }) => title);

describe('the chosen stories of a check', () => {
  const many = pairsOf(['a', 'b', 'c', 'd', 'e', 'f'].map((title) => story(title)));

  it('fill the CPU budget, and differ between commits without a ledger', () => {
    const chosen = (commit: string): string =>
      titles(choose(many, 'lab', circumstances({ commit })))
        .toSorted()
        .join('');
    expect(chosen('abc')).toHaveLength(3);
    expect(new Set(['abc', 'abd', 'abe', 'abf'].map(chosen)).size).toBeGreaterThan(1);
  });

  it('are the stalest ones', () => {
    const ledger = ledgerOf({ 'lab: a': 1, 'lab: b': 5, 'lab: c': 4, 'lab: d': 3, 'lab: e': 2, 'lab: f': 1 });
    expect(titles(choose(many, 'lab', circumstances({ ledger })))).toEqual(['b', 'c', 'd']);
  });

  it('are affected stories first, then stories that never ran, then the stalest', () => {
    const ledger = ledgerOf({ 'lab: a': 1, 'lab: b': 5, 'lab: c': 4, 'lab: e': 2, 'lab: f': 1 });
    const touched = new Set(['f.e2e.ts']);
    const choice = choose(many, 'lab', circumstances({ ledger, touched }));
    expect(titles(choice)).toEqual(['f', 'd', 'b']);
    expect(choice.others.map(({ isTouched }) => isTouched)).toEqual([true, false, false]);
  });

  it('always include the core and nearly overdue stories, whatever they cost', () => {
    const ledger = ledgerOf({ 'lab: a': 7, 'lab: b': 7, 'lab: c': 7, 'lab: d': 8, 'lab: e': 2, 'lab: f': 1 });
    const isCore = ({ title }: { title: string }): boolean => title === 'f';
    const { core, others } = choose(many, 'lab', circumstances({ ledger, isCore }));
    expect(core.map(({ title }) => title)).toEqual(['a', 'b', 'c', 'd', 'f']);
    expect(others).toEqual([]);
  });

  it('run on the staler of two beds; on a tie, the commit decides', () => {
    const both = pairsOf([story('a', 'in full')]);
    const beds = (given: Partial<Circumstances>): readonly string[] =>
      (['lab', 'cluster'] as const).filter((bed) => titles(choose(both, bed, circumstances(given))).includes('a'));
    expect(beds({ ledger: ledgerOf({ 'lab: a': 3, 'cluster: a': 2 }) })).toEqual(['lab']);
    expect(beds({ ledger: ledgerOf({ 'lab: a': 1, 'cluster: a': 2 }) })).toEqual(['cluster']);
    const named = ['a', 'b', 'c', 'd', 'e', 'f'].map((commit) => beds({ commit }).join(' and '));
    expect(new Set(named)).toEqual(new Set(['lab', 'cluster']));
  });

  it('contain at most `atOnce` stories of a family', () => {
    const familyOf = () => ({ name: 'versions', atOnce: 2 });
    expect(titles(choose(many, 'lab', circumstances({ familyOf })))).toHaveLength(2);
  });

  it('run on the cluster only if the lab is not enough', () => {
    const pairs = pairsOf([story('a'), story('b', 'on clusters'), story('c', 'everywhere')]);
    expect(pairs.map(({ key }) => key)).toEqual(['lab: a', 'cluster: b', 'lab: c', 'cluster: c']);
  });
});
