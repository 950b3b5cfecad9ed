import { describe, expect, it } from 'vitest';
import type { Declared } from '../../test/support/story-catalog.ts';
import { type Choice, type Circumstances, choose, pairsOf } from './choose.ts';
import { type Entry, emptyLedger, type Ledger } from './ledger.ts';

const story = (title: string, where: Declared['where'] = 'as on the lab'): Declared => ({
  ...{ title, where },
  file: `${title}.e2e.ts`,
});

const circumstances = (given: Partial<Circumstances> = {}): Circumstances => ({
  ...{ ledger: emptyLedger, commit: 'abc', touched: new Set<string>() },
  ...{ isCore: () => false, isTold: () => false, familyOf: () => undefined },
  cpuSeconds: { lab: 27, cluster: 1000 },
  ...given,
});

/** A ledger after ten landings, in which each of these was last told so many landings ago. */
const ledgerOf = (ages: Readonly<Record<string, number>>): Ledger => ({
  ...emptyLedger,
  landings: Array.from({ length: 10 }, (_, index) => `c${index}`),
  stories: Object.fromEntries(Object.entries(ages).map(([key, age]) => [key, entry(10 - age)])),
});
const entry = (landings: number): Entry => ({ commit: 'c', landings, wallSeconds: 20, cpuSeconds: 9 });
const titles = ({ core, others }: Choice): readonly string[] => [...core, ...others].map(({ title }) => title);

describe('the stories of a check', () => {
  const many = pairsOf(['a', 'b', 'c', 'd', 'e', 'f'].map((title) => story(title)));

  it('are as many as there is room for, and others on another commit where nothing is known of them', () => {
    const chosen = (commit: string): string =>
      titles(choose(many, 'lab', circumstances({ commit })))
        .toSorted()
        .join('');
    expect(chosen('abc')).toHaveLength(3);
    expect(new Set(['abc', 'abd', 'abe', 'abf'].map(chosen)).size).toBeGreaterThan(1);
  });

  it('are those that were not told for the longest time', () => {
    const ledger = ledgerOf({ 'lab: a': 1, 'lab: b': 5, 'lab: c': 4, 'lab: d': 3, 'lab: e': 2, 'lab: f': 1 });
    expect(titles(choose(many, 'lab', circumstances({ ledger })))).toEqual(['b', 'c', 'd']);
  });

  it('are before those the ones that the change reaches, and before all the ones never told', () => {
    const ledger = ledgerOf({ 'lab: a': 1, 'lab: b': 5, 'lab: c': 4, 'lab: e': 2, 'lab: f': 1 });
    const touched = new Set(['f.e2e.ts']);
    const choice = choose(many, 'lab', circumstances({ ledger, touched }));
    expect(titles(choice)).toEqual(['f', 'd', 'b']);
    expect(choice.others.map(({ isTouched }) => isTouched)).toEqual([true, false, false]);
  });

  it('are always the core, and those that would be too old after one more landing, whatever they cost', () => {
    const ledger = ledgerOf({ 'lab: a': 7, 'lab: b': 7, 'lab: c': 7, 'lab: d': 8, 'lab: e': 2, 'lab: f': 1 });
    const isCore = ({ title }: { title: string }): boolean => title === 'f';
    const { core, others } = choose(many, 'lab', circumstances({ ledger, isCore }));
    expect(core.map(({ title }) => title)).toEqual(['a', 'b', 'c', 'd', 'f']);
    expect(others).toEqual([]);
  });

  it('are told on the staler of two beds, and on one that the commit names where both are alike', () => {
    const both = pairsOf([story('a', 'in full')]);
    const beds = (given: Partial<Circumstances>): readonly string[] =>
      (['lab', 'cluster'] as const).filter((bed) => titles(choose(both, bed, circumstances(given))).includes('a'));
    expect(beds({ ledger: ledgerOf({ 'lab: a': 3, 'cluster: a': 2 }) })).toEqual(['lab']);
    expect(beds({ ledger: ledgerOf({ 'lab: a': 1, 'cluster: a': 2 }) })).toEqual(['cluster']);
    const named = ['a', 'b', 'c', 'd', 'e', 'f'].map((commit) => beds({ commit }).join(' and '));
    expect(new Set(named)).toEqual(new Set(['lab', 'cluster']));
  });

  it('are no more of one family than may be told at once', () => {
    const familyOf = () => ({ name: 'versions', atOnce: 2 });
    expect(titles(choose(many, 'lab', circumstances({ familyOf })))).toHaveLength(2);
  });

  it('are on a cluster only those that a cluster shows better than the lab', () => {
    const pairs = pairsOf([story('a'), story('b', 'on clusters'), story('c', 'everywhere')]);
    expect(pairs.map(({ key }) => key)).toEqual(['lab: a', 'cluster: b', 'lab: c', 'cluster: c']);
  });
});
