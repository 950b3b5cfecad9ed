import { describe, expect, it } from 'vitest';
import { snapshotCountAfter } from './old-requests.ts';

describe('requests of the old API in the log', () => {
  it.each([
    ['are soon behind a snapshot after coming to 3.5', '3.4.31', '3.5.35', 50_000n, '100'],
    ['at once where the log is short', '3.4.31', '3.5.35', 50n, '1'],
    ['are forgotten with 3.5', '3.5.35', '3.6.16', 50n, ''],
    ['need nothing within 3.5', '3.5.21', '3.5.35', 50n, undefined],
    ['and nothing when going back to it', '3.6.16', '3.5.35', 50n, undefined],
  ] as const)('%s', (...[, from, to, raftIndex, count]) => {
    expect(snapshotCountAfter({ from, to, raftIndex })).toBe(count);
  });
});
