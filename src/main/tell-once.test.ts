import { describe, expect, it } from 'vitest';
import { tellOnce } from './tell-once.ts';

const about = { apiVersion: 'v1', kind: 'EtcdCluster', metadata: { name: 'db', uid: 'u' } };
const warning = { type: 'Warning', reason: 'EvenSize', message: 'spec.size is 4' } as const;

/** At which of these seconds a warning is told that passes meet at all of them. */
function toldAt(...seconds: readonly number[]): readonly number[] {
  let now = 0;
  const told: number[] = [];
  const tell = tellOnce(() => void told.push(now), { monotonic: () => now * 1000 });
  for (const second of seconds) {
    now = second;
    tell(about, warning);
  }
  return told;
}

describe('a warning', () => {
  it('that lasts is told when it begins, and again after nine minutes', () => {
    expect(toldAt(...Array.from({ length: 121 }, (_, i) => i * 10))).toEqual([0, 540, 1080]);
  });

  it('that was over and comes back is told again; one that passes meet every half minute was not over', () => {
    expect(toldAt(0, 10, 100, 105)).toEqual([0, 100]);
    expect(toldAt(0, 30, 60, 90, 150)).toEqual([0]);
  });

  it('in other words is another one, and good news are always told', () => {
    const told: string[] = [];
    const tell = tellOnce((_, { message }) => void told.push(message), { monotonic: () => 0 });
    for (const message of ['a', 'a', 'b']) tell(about, { ...warning, message });
    for (const message of ['c', 'c']) tell(about, { ...warning, type: 'Normal', message });
    expect(told).toEqual(['a', 'b', 'c', 'c']);
  });
});
