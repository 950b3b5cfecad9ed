import { describe, expect, it } from 'vitest';
import { clusterKey, type EtcdCluster } from './cluster-changes.ts';
import { linesOf, type View } from './view.ts';

const cluster: EtcdCluster = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'db', namespace: 'default', generation: 1 },
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
  revisions: new Map([[clusterKey(cluster), '42']]),
  hints: ['export this'],
  lines: Array.from({ length: 50 }, (_, index) => `line ${index}`),
};

describe('the live view', () => {
  it('shows members, leader, revision and what the operator does', () => {
    expect(linesOf(view, { columns: 80, rows: 40 }).slice(0, 5)).toEqual([
      'EtcdCluster db: 1 of 2 members ready, etcd 3.5.35, revision 42',
      '  ScalingUp: db-b is catching up',
      '  ●  db-a  3.5.35  leader',
      '  ○  db-b  3.5.35  learner',
      '',
    ]);
  });

  it('shows the API group and the namespace of a cluster unless they are the default', () => {
    const other: EtcdCluster = {
      apiVersion: 'etcd.improbable.io/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { name: 'db', namespace: 'team', generation: 1 },
      spec: { replicas: 2, version: '3.7.3' },
      status: {
        readyReplicas: 2,
        serverVersion: '3.6.16',
        members: [{ name: 'db-0', healthy: true, leader: true, role: 'voter', version: '3.6.16' }],
      },
    };
    const lines = linesOf({ ...view, clusters: [cluster, other] }, { columns: 100, rows: 40 });
    expect(lines).toContain('EtcdCluster team/db of etcd.improbable.io: 2 of 2 members ready, etcd 3.6.16, revision ?');
    expect(lines).toContain('  ●  db-0  3.6.16  leader');
  });

  it('shows what the operator waits for', () => {
    const conditions = [
      { type: 'Available', status: 'True' },
      { type: 'Progressing', status: 'False', reason: 'Paused', message: 'spec.paused is set' },
      { type: 'Degraded', status: 'False' },
    ];
    const other: EtcdCluster = { ...cluster, status: { ...cluster.status, conditions } };
    expect(linesOf({ ...view, clusters: [other] }, { columns: 80, rows: 40 })[1]).toBe('  Paused: spec.paused is set');
  });

  it('fits the terminal and shows the latest lines', () => {
    const lines = linesOf(view, { columns: 20, rows: 12 });
    expect(lines).toHaveLength(11);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(20);
    expect(lines).toContain('line 49');
    expect(lines).not.toContain('line 0');
    expect(lines.at(-2)).toBe('export this');
  });

  it('folds commands that are too wide, so that they can still be copied', () => {
    const wide = "  kubectl delete pod -l etcd_cluster=db 'a b' --field-selector spec.nodeName=node1";
    const hints = [wide, `  export KUBECONFIG=/${'x'.repeat(60)}`];
    const lines = linesOf({ ...view, hints }, { columns: 40, rows: 30 });
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(40);
    const unfolded = lines
      .join('\n')
      .replaceAll(/ \\\n */g, ' ')
      .replaceAll('\\\n', '');
    for (const hint of hints) expect(unfolded.replaceAll(/ +/g, ' ')).toContain(hint.trim());
  });
});
