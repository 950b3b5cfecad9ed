import { describe, expect, it } from 'vitest';
import { aWorld, imageOf, nameOf, withMemberPod } from '../../../test/support/worlds.ts';
import { act, wait } from '../../core/cluster/plan/step.ts';
import { hasBegunToRoll, isRoll, RollTurns } from './roll-turns.ts';

function turnsOf(limit: number) {
  let now = 0;
  const turns = new RollTurns(limit, { monotonic: () => now });
  const woken: string[] = [];
  const take = (key: string, hasBegun = false): boolean =>
    turns.take(key, { hasBegun, wake: () => void woken.push(key) });
  return { turns, woken, take, advance: (millis: number) => void (now += millis) };
}

describe('turns to roll', () => {
  it('are given up to the limit; the clusters that wait are woken in order', () => {
    const { turns, woken, take } = turnsOf(2);
    expect(['a', 'b', 'c', 'd'].map((key) => take(key))).toEqual([true, true, false, false]);
    expect([take('a'), take('c')]).toEqual([true, false]);
    turns.forget('a');
    expect(woken).toEqual(['c']);
    expect([take('c'), take('d')]).toEqual([true, false]);
    turns.forget('b');
    expect(woken).toEqual(['c', 'd']);
  });

  it('are always given to a roll that has begun', () => {
    const { turns, woken, take } = turnsOf(1);
    expect([take('a'), take('b', true), take('c')]).toEqual([true, true, false]);
    turns.forget('a');
    expect(woken).toEqual([]);
    turns.forget('b');
    expect(woken).toEqual(['c']);
  });

  it('end after ten minutes without a step', () => {
    const { take, woken, advance } = turnsOf(1);
    take('a');
    advance(599_000);
    expect([take('a'), take('b')]).toEqual([true, false]);
    advance(601_000);
    expect(take('c')).toBe(true);
    expect(woken).toEqual(['b']);
  });

  it('leave nothing in memory of deleted clusters', () => {
    const { turns, take } = turnsOf(1);
    for (const key of ['a', 'b', 'c']) take(key);
    for (const key of ['c', 'b', 'a']) turns.forget(key);
    expect(turns.size).toBe(0);
  });
});

describe('a roll', () => {
  const step = { kind: 'change-image', name: 'db-0', uid: 'u', from: 'a', to: 'b' } as never;
  const relabel = { kind: 'relabel-member-pod', name: 'db-0', uid: 'u' } as never;
  it.each([
    ['a change of an image', act('Upgrading', 'x', step), true],
    ['a new pod', act('Rolling', 'x', step), true],
    ['a change of labels', act('Rolling', 'x', relabel), false],
    ['healing', act('DeadMember', 'x', step), false],
    ['a wait', wait('Rolling', 'x'), false],
    ['a member that leaves the client Service', { ...wait('Upgrading', 'x'), withdraws: nameOf('db-0') }, true],
    ['a removed member that leaves it', { ...wait('ScalingDown', 'x'), withdraws: nameOf('db-0') }, false],
  ])('%s: %s', (_, verdict, expected) => {
    expect(isRoll(verdict)).toBe(expected);
  });

  it('has begun once members differ', () => {
    expect(hasBegunToRoll(aWorld())).toBe(false);
    expect(hasBegunToRoll(aWorld(withMemberPod('db-1', { image: imageOf('3.6.1') })))).toBe(true);
  });
});
