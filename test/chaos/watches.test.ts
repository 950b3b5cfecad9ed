import { describe, expect, it } from 'vitest';
import type { KeyChange } from './operation.ts';
import { stateAt, unionOf, type WatchRecord, watchViolations } from './watches.ts';

const put = (revision: number, key = 'k/1', value = `v${revision}`): KeyChange => ({
  ...{ revision, key, kind: 'put', value },
});

const history = [put(2), put(3, 'k/2'), put(4), { revision: 5, key: 'k/1', kind: 'delete', value: '' } as const];
const [second, third, fourth, fifth] = history as [KeyChange, KeyChange, KeyChange, KeyChange];

const watcher = (...sessions: readonly (readonly [number, readonly KeyChange[]])[]): WatchRecord => ({
  ...{ name: 'w', prefix: 'k/' },
  sessions: sessions.map(([from, events]) => ({ from, events })),
});

const violations = (record: WatchRecord, acknowledged: readonly KeyChange[] = history): readonly string[] =>
  watchViolations([record], acknowledged, 5);

describe('a watcher', () => {
  it('that received each event once, in one session or in several, violates nothing', () => {
    expect(violations(watcher([1, history]))).toEqual([]);
    expect(violations(watcher([1, [second, third]], [4, []], [4, [fourth, fifth]]))).toEqual([]);
  });

  it.each([
    ['not ordered', watcher([1, [second, fourth, third, fifth]])],
    ['not unique', watcher([1, [second, third]], [3, [third, fourth, fifth]])],
    ['not reliable', watcher([1, [second, fourth, fifth]])],
    ['not reliable', watcher([1, [second, third]], [4, [fifth]])],
    ['not resumable', watcher([1, [second]], [4, [third, fourth, fifth]])],
    ['not truthful', watcher([1, [second, put(3, 'k/2', 'other'), fourth, fifth]])],
  ])('is %s', (violation, record) => {
    expect(violations(record).map((text) => text.replace('w: ', ''))).toEqual([expect.stringMatching(`^${violation}`)]);
  });

  it('misses an event that only another watcher has received, such as that of an unanswered write', () => {
    const all = { ...watcher([1, history]), name: 'all' };
    const short = watcher([1, [second, third, fifth]]);
    expect(watchViolations([all, short], [second], 5)).toEqual(['w: not reliable: "4: put k/1=v4" is missing']);
  });

  it('of some keys does not miss events of others', () => {
    const one = { ...watcher([1, [second, fourth, fifth]]), prefix: 'k/1' };
    expect(violations(one)).toEqual([]);
  });

  it('may lack events after the revision that all watchers have reached', () => {
    expect(watchViolations([watcher([1, [second, third]])], history, 3)).toEqual([]);
  });
});

it('all changes are sorted by revision, each once', () => {
  expect(unionOf([watcher([1, [second, fourth]]), watcher([1, [second, third]])], [fifth])).toEqual(history);
});

it('the state at a revision has the values of that time', () => {
  expect(stateAt(history, 3)).toEqual({ 'k/1': 'v2', 'k/2': 'v3' });
  expect(stateAt(history.toReversed(), 4)).toEqual({ 'k/1': 'v4', 'k/2': 'v3' });
  expect(stateAt(history, 9)).toEqual({ 'k/2': 'v3' });
});
