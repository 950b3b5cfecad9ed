import { describe, expect, it } from 'vitest';
import { recordOnce } from './record-once.ts';

const about = { apiVersion: 'v1', kind: 'EtcdCluster', metadata: { name: 'db', uid: 'u' } };
const warning = { type: 'Warning', reason: 'EvenSize', message: 'spec.size is 4' } as const;

/** The seconds at which a warning is recorded, if passes raise it at all the given seconds. */
function recordedAt(...seconds: readonly number[]): readonly number[] {
  let now = 0;
  const recorded: number[] = [];
  const record = recordOnce(() => void recorded.push(now), { monotonic: () => now * 1000 });
  for (const second of seconds) {
    now = second;
    record(about, warning);
  }
  return recorded;
}

describe('a warning', () => {
  it('that lasts is recorded at its start and again after nine minutes', () => {
    expect(recordedAt(...Array.from({ length: 121 }, (_, i) => i * 10))).toEqual([0, 540, 1080]);
  });

  it('that ended and comes back is recorded again, and one raised every half minute has not ended', () => {
    expect(recordedAt(0, 10, 100, 105)).toEqual([0, 100]);
    expect(recordedAt(0, 30, 60, 90, 150)).toEqual([0]);
  });

  it('with another message is recorded, and Normal Events are always recorded', () => {
    const recorded: string[] = [];
    const record = recordOnce((_, { message }) => void recorded.push(message), { monotonic: () => 0 });
    for (const message of ['a', 'a', 'b']) record(about, { ...warning, message });
    for (const message of ['c', 'c']) record(about, { ...warning, type: 'Normal', message });
    expect(recorded).toEqual(['a', 'b', 'c', 'c']);
  });
});
