import { describe, expect, it } from 'vitest';
import { snapshotCountAfter, snapshotCountOf } from './legacy-resources.ts';

describe('the snapshot count for v2 requests in the Raft log', () => {
  it.each([
    ['is low after an upgrade to 3.5', '3.4.31', '3.5.35', 50_000n, '100'],
    ['is 1 after an upgrade to 3.5 with a short log', '3.4.31', '3.5.35', 50n, '1'],
    ['is half of a short log after an upgrade to 3.6', '3.5.35', '3.6.16', 50n, '25'],
    ['is at least 1 after an upgrade to 3.6', '3.5.35', '3.6.16', 1n, '1'],
    ['is at most 100 after an upgrade to 3.6', '3.5.35', '3.6.16', 50_000n, '100'],
    ['is removed after 3.6', '3.6.16', '3.7.3', 50n, ''],
    ['is unchanged within 3.5', '3.5.21', '3.5.35', 50n, undefined],
    ['is unchanged by a downgrade to 3.5', '3.6.16', '3.5.35', 50n, undefined],
    ['is unchanged by a downgrade to 3.6', '3.7.3', '3.6.16', 50n, undefined],
  ] as const)('%s', (...[, from, to, raftIndex, count]) => {
    expect(snapshotCountAfter({ from, to, raftIndex })).toBe(count);
  });

  it.each([
    ['of a new pod is low with an upgrade to 3.5', '3.4.31', '3.5.35', [], '100'],
    ['of a recreated pod is that of its PVC', '3.5.35', '3.5.35', ['1', undefined], '1'],
    ['of a joining member is that of the other members', '3.5.35', '3.5.35', [undefined, '', '100'], '100'],
    ['of a new pod is unset if no member has one', '3.5.35', '3.5.35', [undefined, ''], ''],
    ['of a new pod is unset after 3.6', '3.6.16', '3.7.3', ['1', '1'], ''],
    ['of a new pod is low with an upgrade to 3.6', '3.5.35', '3.6.16', ['1', '1'], '100'],
  ] as const)('%s', (...[, from, to, known, count]) => {
    expect(snapshotCountOf({ from, to, raftIndex: 50_000n }, known)).toBe(count);
  });
});
