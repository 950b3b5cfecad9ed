import { describe, expect, it } from 'vitest';
import { type ConditionState, type EtcdCluster, isSettled, type MemberState, whatHappened } from './tale.ts';

const condition = (type: string, status: string, words = {}): ConditionState => ({ type, status, ...words });
const calm = [condition('Available', 'True'), condition('Progressing', 'False'), condition('Degraded', 'False')];

const cluster = (memberStatus: readonly MemberState[], conditions = calm): EtcdCluster => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'db', generation: 1 },
  spec: { size: 1, version: '3.5.35' },
  status: { observedGeneration: 1, readyMembers: memberStatus.length, memberStatus, conditions },
});
const member = (name: string, more: Partial<MemberState> = {}): MemberState => ({
  ...{ name, role: 'voter', healthy: true, leader: false },
  ...more,
});

describe('what happened to a cluster', () => {
  it('begins with its members and ends with what was desired', () => {
    expect(whatHappened(undefined, cluster([member('a', { leader: true })]))).toEqual([
      "member a is in etcd's list, as a voter",
      'member a is healthy',
      'member a leads',
      'the cluster is available',
      'as desired: 1 of 1 members serve, etcd 3.5.35',
    ]);
  });

  it('is nothing when nothing changed', () => {
    expect(whatHappened(cluster([member('a')]), cluster([member('a')]))).toEqual([]);
  });

  it('tells of members that leave, fall ill, vote and lead', () => {
    const before = cluster([member('a', { leader: true }), member('b'), member('c', { role: 'learner' })]);
    const after = cluster([member('b', { healthy: false }), member('c', { leader: true })]);
    expect(whatHappened(before, after)).toEqual([
      'member a has left',
      'member b is not healthy',
      'member c is a voter now',
      'member c leads',
    ]);
  });

  it('tells what the operator does and why, once', () => {
    const busy = cluster([], [condition('Progressing', 'True', { reason: 'ScalingUp', message: 'adding a member' })]);
    expect(whatHappened(cluster([]), busy)).toContain('operator: ScalingUp: adding a member');
    expect(whatHappened(busy, busy)).toEqual([]);
  });

  it('tells of trouble and of its end', () => {
    const down = [
      condition('Available', 'False', { reason: 'NoContact' }),
      condition('Degraded', 'True', { reason: 'QuorumLost', message: 'help' }),
    ];
    expect(whatHappened(cluster([]), cluster([], down))).toEqual([
      'the cluster is not available: NoContact',
      'trouble: QuorumLost: help',
    ]);
    expect(whatHappened(cluster([], down), cluster([]))).toContain('the cluster is available');
  });
});

describe('a settled cluster', () => {
  it('is one whose newest spec was seen', () => {
    const settled = cluster([]);
    expect(isSettled(settled)).toBe(true);
    expect(isSettled({ ...settled, metadata: { ...settled.metadata, generation: 2 } })).toBe(false);
    expect(isSettled(undefined)).toBe(false);
  });
});
