import { describe, expect, it } from 'vitest';
import type { EtcdCluster } from './tale.ts';
import { linesOf, type View } from './view.ts';

const cluster: EtcdCluster = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'db', generation: 1 },
  spec: { size: 2, version: '3.5.35' },
  status: {
    observedGeneration: 1,
    readyMembers: 1,
    memberStatus: [
      { name: 'db-a', healthy: true, leader: true, role: 'voter', version: '3.5.35' },
      { name: 'db-b', healthy: false, leader: false, role: 'learner', version: '3.5.35' },
    ],
    conditions: [{ type: 'Progressing', status: 'True', reason: 'ScalingUp', message: 'db-b is catching up' }],
  },
};
const view: View = {
  clusters: [cluster],
  revisions: new Map([['db', '42']]),
  hints: ['export this'],
  lines: Array.from({ length: 50 }, (_, index) => `line ${index}`),
};

describe('the live view', () => {
  it('shows members, leader, revision and what the operator does', () => {
    expect(linesOf(view, { columns: 80, rows: 40 }).slice(0, 5)).toEqual([
      'EtcdCluster db: 1 of 2 members serve, etcd 3.5.35, revision 42',
      '  ScalingUp: db-b is catching up',
      '  ●  db-a  3.5.35  leader',
      '  ○  db-b  3.5.35  learner',
      '',
    ]);
  });

  it('never is larger than the terminal, and shows what happened last', () => {
    const lines = linesOf(view, { columns: 20, rows: 12 });
    expect(lines).toHaveLength(11);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(20);
    expect(lines).toContain('line 49');
    expect(lines).not.toContain('line 0');
    expect(lines.at(-2)).toBe('export this');
  });
});
