import { describe, expect, it } from 'vitest';
import { snapshotCountAfter, snapshotCountOf } from './old-requests.ts';

describe('requests of the old API in the log', () => {
  it.each([
    ['are soon behind a snapshot after coming to 3.5', '3.4.31', '3.5.35', 50_000n, '100'],
    ['at once where the log is short', '3.4.31', '3.5.35', 50n, '1'],
    ['are at once behind one in 3.6, where there was none', '3.5.35', '3.6.16', 50n, '25'],
    ['also where next to nothing was written', '3.5.35', '3.6.16', 1n, '1'],
    ['and soon where there may have been one', '3.5.35', '3.6.16', 50_000n, '100'],
    ['are forgotten with 3.6', '3.6.16', '3.7.3', 50n, ''],
    ['need nothing within 3.5', '3.5.21', '3.5.35', 50n, undefined],
    ['and nothing when going back to it', '3.6.16', '3.5.35', 50n, undefined],
    ['nor to 3.6', '3.7.3', '3.6.16', 50n, undefined],
  ] as const)('%s', (...[, from, to, raftIndex, count]) => {
    expect(snapshotCountAfter({ from, to, raftIndex })).toBe(count);
  });

  it.each([
    ['are soon behind one also where a new pod comes to 3.5', '3.4.31', '3.5.35', [], '100'],
    ['and where a pod is made again there', '3.5.35', '3.5.35', ['1', undefined], '1'],
    ['and where one joins who is sent the same log', '3.5.35', '3.5.35', [undefined, '', '100'], '100'],
    ['need nothing where nobody has any', '3.5.35', '3.5.35', [undefined, ''], ''],
    ['nor when 3.6 is left', '3.6.16', '3.7.3', ['1', '1'], ''],
    ['but go on being needed where a new pod comes to 3.6', '3.5.35', '3.6.16', ['1', '1'], '100'],
  ] as const)('%s', (...[, from, to, said, count]) => {
    expect(snapshotCountOf({ from, to, raftIndex: 50_000n }, said)).toBe(count);
  });
});
