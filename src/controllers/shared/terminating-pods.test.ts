import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../test/support/virtual-clock.ts';
import { TerminatingPods } from './terminating-pods.ts';

const pod = (uid: string, deletionTimestamp?: string, deletionGracePeriodSeconds?: number) =>
  ({ metadata: { name: uid, uid, deletionTimestamp, deletionGracePeriodSeconds } }) as never;

describe('a terminating pod', () => {
  it.each(['2020-01-01T00:00:00Z', '2040-01-01T00:00:00Z'])(
    'is overdue a minute after its grace period, for any clock of the API server: %s',
    (deletionTimestamp) => {
      const clock = new VirtualClock();
      const seen = new TerminatingPods(clock);
      const going = [pod('a', deletionTimestamp, 30), pod('b', deletionTimestamp, 0), pod('c')];
      const after = (seconds: number) => {
        clock.freeze(seconds * 1000);
        return [...seen.overdue('n/r', going)];
      };
      expect(after(0)).toEqual([]);
      expect(after(60)).toEqual([]);
      expect(after(1)).toEqual(['b']);
      expect(after(29)).toEqual(['b']);
      expect(after(1)).toEqual(['a', 'b']);
    },
  );

  it('is remembered until the pod is gone or its resource is forgotten', () => {
    const seen = new TerminatingPods(new VirtualClock());
    const going = [pod('a', '2026-01-01T00:00:00Z')];
    for (const end of [() => seen.overdue('n/r', []), () => seen.forget('n/r')]) {
      seen.overdue('n/r', going);
      expect(seen.size).toBe(1);
      end();
      expect(seen.size).toBe(0);
    }
  });
});
