import { describe, expect, it } from 'vitest';
import { type ConditionState, changesOf, type EtcdCluster, isSettled, type MemberState } from './cluster-changes.ts';

const condition = (type: string, status: string, more = {}): ConditionState => ({ type, status, ...more });
const healthy = [condition('Available', 'True'), condition('Progressing', 'False'), condition('Degraded', 'False')];

const cluster = (memberStatus: readonly MemberState[], conditions = healthy): EtcdCluster => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'db', generation: 1 },
  spec: { size: 1, version: '3.5.35' },
  status: { observedGeneration: 1, readyMembers: memberStatus.length, memberStatus, conditions },
});
const member = (name: string, more: Partial<MemberState> = {}): MemberState => ({
  name,
  role: 'voter',
  healthy: true,
  leader: false,
  ...more,
});

describe('the changes of a cluster', () => {
  it('of a new cluster are its members, its availability and its health', () => {
    expect(changesOf(undefined, cluster([member('a', { leader: true })]))).toEqual([
      'member a joined as voter',
      'member a is healthy',
      'member a is the leader',
      'the cluster is available',
      'healthy: 1 of 1 members ready, etcd 3.5.35',
    ]);
  });

  it('are empty if its status is the same', () => {
    expect(changesOf(cluster([member('a')]), cluster([member('a')]))).toEqual([]);
  });

  it('include removed, unhealthy, promoted and leading members', () => {
    const before = cluster([member('a', { leader: true }), member('b'), member('c', { role: 'learner' })]);
    const after = cluster([member('b', { healthy: false }), member('c', { leader: true })]);
    expect(changesOf(before, after)).toEqual([
      'member a was removed',
      'member b is unhealthy',
      'member c is now a voter',
      'member c is the leader',
    ]);
  });

  it("include the operator's reason and message once", () => {
    const busy = cluster([], [condition('Progressing', 'True', { reason: 'ScalingUp', message: 'adding a member' })]);
    expect(changesOf(cluster([]), busy)).toContain('operator: ScalingUp: adding a member');
    expect(changesOf(busy, busy)).toEqual([]);
  });

  it('include degradation and recovery', () => {
    const down = [
      condition('Available', 'False', { reason: 'NoContact' }),
      condition('Degraded', 'True', { reason: 'QuorumLost', message: 'help' }),
    ];
    expect(changesOf(cluster([]), cluster([], down))).toEqual([
      'the cluster is not available: NoContact',
      'degraded: QuorumLost: help',
    ]);
    expect(changesOf(cluster([], down), cluster([]))).toContain('the cluster is available');
  });
});

describe('a settled cluster', () => {
  it('has an observedGeneration that is current', () => {
    const settled = cluster([]);
    expect(isSettled(settled)).toBe(true);
    expect(isSettled({ ...settled, metadata: { ...settled.metadata, generation: 2 } })).toBe(false);
    expect(isSettled(undefined)).toBe(false);
  });
});
