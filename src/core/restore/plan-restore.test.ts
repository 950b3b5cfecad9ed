import { describe, expect, it } from 'vitest';
import { now, old, proof, seed, stepIn, world } from '../../../test/support/restore-worlds.ts';
import type { ObjectRef, RestoredCluster } from './model.ts';
import { planRestore } from './plan-restore.ts';

const failedWith = (seedPod: ObjectRef) => planRestore({ ...world('failed'), seedPod });
const discard = { is: 'act', step: { kind: 'discard-seed', name: 'db-new' } };

describe('a restore before the cluster is changed', () => {
  it('checks the backup', () => {
    expect(stepIn(world('proving'))).toBe('prove');
    expect(planRestore(world('proving', { proof: proof(true) }))).toMatchObject({
      ...{ is: 'enter', phase: 'seeding', seed: 'db-new' },
    });
  });

  it('fails if the backup is invalid', () => {
    expect(planRestore(world('proving', { proof: proof(false) }))).toEqual({
      ...{ is: 'enter', phase: 'failed' },
      message: 'the backup cannot be used, and EtcdCluster "db" was not changed: bytes were lost',
    });
    expect(planRestore(world('failed'))).toMatchObject({ is: 'act', step: { kind: 'unpin' } });
    expect(planRestore(world('failed', { isPinned: false }))).toEqual({ is: 'over' });
  });

  it('provisions a volume during the check, unless the backup itself is on a PVC', () => {
    const checking = { ...proof(true), state: { is: 'running' as const } };
    expect(planRestore(world('proving', { proof: checking }))).toMatchObject({ is: 'enter', phase: 'seeding' });
    expect(planRestore(world('proving', { proof: checking, isOnVolume: true }))).toMatchObject({ is: 'wait' });
  });

  it('fails if a parallel check finds the backup invalid, unless the seed already serves', () => {
    const seen = (ok: boolean, cluster = {}) => planRestore(world('seeding', { proof: proof(ok), cluster }));
    expect(seen(false)).toMatchObject({ phase: 'failed', message: expect.stringContaining('was not changed') });
    expect(seen(true)).toMatchObject({ is: 'act', step: { kind: 'start-seed' } });
    expect(seen(false, { seed })).toMatchObject({ phase: 'switching' });
    const report = { ok: false, message: 'Error', facts: {}, wasInterrupted: true };
    const killed = { ...proof(false), state: { is: 'ended' as const, report } };
    expect(stepIn(world('seeding', { proof: killed }))).toBe('start-seed');
  });

  it('deletes the pod and the PVC of the seed once after a failure', () => {
    expect(stepIn(world('failed', { hasSeedVolume: true }))).toBe('discard-seed');
    expect(failedWith(seed)).toMatchObject(discard);
    expect(failedWith({ ...seed, isTerminating: true })).toMatchObject({ is: 'wait' });
    expect(failedWith({ ...seed, isTerminating: true, isOverdue: true })).not.toMatchObject({ is: 'wait' });
  });

  it('repeats an interrupted check for a while', () => {
    const report = { ok: false, message: 'Error', facts: {}, wasInterrupted: true };
    const ended = { ...proof(false), state: { is: 'ended' as const, report } };
    expect(stepIn(world('proving', { proof: ended }))).toBe('discard-proof');
    const late = world('proving', { proof: ended, memory: { since: now - 600_000 } });
    expect(planRestore(late)).toMatchObject({ is: 'enter', phase: 'failed' });
  });

  it('gives a seed time to recover that breaks late', () => {
    const since = now - 1_000_000;
    const broken = { ...seed, state: 'broken' as const, why: 'back-off', clusterId: undefined };
    const at = (workedUntil?: number) =>
      planRestore(world('seeding', { memory: { since }, cluster: { seed: { ...broken, workedUntil } } }));
    expect(at(now - 10_000)).toMatchObject({ is: 'wait' });
    expect(at(now - 301_000)).toMatchObject({ phase: 'failed' });
    expect(at()).toMatchObject({ phase: 'failed' });
  });

  it('does not fail while a store is unreachable for a moment', () => {
    const report = { ok: false, message: 'no connection', facts: {}, mayPass: true };
    const failed = { ...proof(false), state: { is: 'ended' as const, report } };
    expect(stepIn(world('proving', { proof: failed }))).toBe('discard-proof');
    expect(stepIn(world('seeding', { proof: failed }))).toBe('start-seed');
    const late = world('proving', { proof: failed, memory: { since: now - 600_000 } });
    expect(planRestore(late)).toMatchObject({ phase: 'failed', message: expect.stringContaining('no connection') });
  });

  it('fails at once if the seed finds the backup invalid, and deletes the seed', () => {
    const found = { ...seed, state: 'refused' as const, why: 'bytes were lost', clusterId: undefined };
    expect(planRestore(world('seeding', { cluster: { seed: found } }))).toEqual({
      ...{ is: 'enter', phase: 'failed' },
      message: 'the backup cannot be used, and EtcdCluster "db" was not changed: bytes were lost',
    });
    expect(failedWith(found)).toMatchObject(discard);
  });

  it('waits for missing objects', () => {
    expect(planRestore(world('proving', { obstacle: 'no Secret' }))).toMatchObject({
      is: 'wait',
      message: 'no Secret',
    });
    expect(planRestore(world('proving', { cluster: 'no cluster' }))).toMatchObject({ is: 'wait', isBlocked: true });
  });

  it('fails if etcd does not support revisionBump', () => {
    const { intent } = world('proving');
    const bumping = { intent: { ...intent, revisionBump: 1 } };
    expect(planRestore(world('proving', bumping))).toMatchObject({ is: 'enter', phase: 'failed' });
    expect(stepIn(world('proving', { ...bumping, cluster: { version: '3.5.10' } }))).toBe('prove');
    expect(stepIn(world('proving', { ...bumping, cluster: { version: '3.6.0' } }))).toBe('prove');
  });

  it('is blocked while the seed refuses the operator, until its time limit', () => {
    const found = { ...seed, state: 'locked' as const, clusterId: undefined, why: 'no user' };
    expect(planRestore(world('seeding', { cluster: { seed: found } }))).toEqual({
      ...{ is: 'wait', isBlocked: true },
      message: 'seed member db-new serves the restored data, but refuses the operator: no user',
    });
    const late = world('seeding', { cluster: { seed: found }, memory: { since: now - 3_601_000 } });
    expect(planRestore(late)).toMatchObject({ phase: 'failed', message: expect.stringContaining('no user') });
  });

  it('starts a seed from the backup and waits until it serves', () => {
    expect(stepIn(world('seeding'))).toBe('start-seed');
    const starting = { ...seed, state: 'starting' as const, clusterId: undefined };
    const progress = { phase: 'fetching', bytes: 1, totalBytes: 2, bytesPerSecond: 3 };
    expect(planRestore(world('seeding', { cluster: { seed: { ...starting, progress } } }))).toMatchObject({
      ...{ is: 'wait', progress },
    });
    const silent = { ...seed, clusterId: undefined };
    expect(planRestore(world('seeding', { cluster: { seed: silent } }))).toMatchObject({ is: 'wait' });
    expect(planRestore(world('seeding', { cluster: { seed } }))).toMatchObject({
      phase: 'switching',
      clusterId: 'bbb',
    });
  });

  it('deletes a seed that cannot start, and the cluster is unchanged', () => {
    const broken = { ...seed, state: 'broken' as const, why: 'no such image', clusterId: undefined };
    const at = (since: number) => planRestore(world('seeding', { cluster: { seed: broken }, memory: { since } }));
    expect(at(now - 200_000)).toMatchObject({ is: 'wait' });
    expect(at(now - 400_000)).toMatchObject({ is: 'enter', phase: 'failed' });
    expect(failedWith(broken)).toMatchObject(discard);
  });
});

describe('a restore after the seed serves', () => {
  const held = { holdAskedBy: 'u', heldBy: 'u', seed };
  const none = { oldPods: [], oldClaims: [] };

  it('takes its steps in order, and resumes after an interruption', () => {
    const switching = (cluster: Partial<RestoredCluster>) => stepIn(world('switching', { cluster }));
    expect(stepIn(world('switching', { cluster: { seed }, isPinned: false }))).toBe('pin');
    expect(switching({ seed })).toBe('hold-cluster');
    expect(switching(held)).toBe('stop-pods');
    const going = { ...held, oldPods: [{ ...old, isTerminating: true }] };
    expect(planRestore(world('switching', { cluster: going }))).toMatchObject({ is: 'wait' });
    expect(switching({ ...held, oldPods: [] })).toBe('set-aside');
    expect(switching({ ...held, ...none })).toBe('hand-over');
    const handedOver = { ...seed, isHandedOver: true };
    expect(switching({ ...held, ...none, seed: handedOver })).toBe('rewrite-memory');
    const after = { ...held, ...none, seed: handedOver, clusterId: 'bbb' };
    expect(planRestore(world('switching', { cluster: after }))).toMatchObject({ is: 'enter', phase: 'growing' });
    expect(stepIn(world('growing', { cluster: after }))).toBe('release-cluster');
  });

  it('stops no member before the cluster controller has paused', () => {
    const asked = { seed, holdAskedBy: 'u' };
    expect(planRestore(world('switching', { cluster: asked }))).toMatchObject({ is: 'wait' });
    expect(planRestore(world('switching', { cluster: { ...asked, heldBy: 'another' } }))).toMatchObject({ is: 'wait' });
  });

  it('waits for another restore of the same cluster', () => {
    const others = { seed, holdAskedBy: 'another', heldBy: 'another' };
    const message = 'waiting for another restore of the same cluster';
    expect(planRestore(world('switching', { cluster: others }))).toMatchObject({ is: 'wait', message });
  });

  it('fails if the cluster is deleted, and removes the finalizer', () => {
    const gone = { cluster: 'it is gone', isClusterGone: true };
    for (const phase of ['switching', 'growing'] as const)
      expect(planRestore(world(phase, gone))).toMatchObject({ is: 'enter', phase: 'failed' });
    expect(planRestore({ ...world('failed', gone), seedPod: seed })).toMatchObject(discard);
    expect(stepIn(world('failed', gone))).toBe('unpin');
    expect(planRestore(world('seeding', gone))).toMatchObject({ is: 'wait', isBlocked: true });
  });

  it('does not delete a seed that belongs to a cluster', () => {
    expect(stepIn(world('failed', { cluster: { seed } }))).toBe('unpin');
  });

  it('starts a lost seed again', () => {
    expect(stepIn(world('switching', { cluster: { ...held, ...none, seed: undefined } }))).toBe('start-seed');
  });

  it('reports the problem of a cluster that cannot grow', () => {
    const small = { isSettled: false, clusterId: 'bbb' };
    expect(planRestore(world('growing', { cluster: small }))).toEqual({
      ...{ is: 'wait', message: 'waiting for the cluster to reach its full size' },
    });
    expect(planRestore(world('growing', { cluster: { ...small, trouble: 'no user' } }))).toEqual({
      ...{ is: 'wait', isBlocked: true, message: 'EtcdCluster "db" cannot grow to its full size: no user' },
    });
    expect(planRestore(world('growing', { cluster: { ...small, isSettled: true, trouble: 'no user' } }))).toMatchObject(
      {
        phase: 'complete',
      },
    );
  });

  it('completes when the cluster has its full size, and deletes the old PVCs only then', () => {
    const growing = { ...none, clusterId: 'bbb', seed: { ...seed, isHandedOver: true } };
    expect(planRestore(world('growing', { cluster: { ...growing, isSettled: false } }))).toMatchObject({ is: 'wait' });
    expect(planRestore(world('growing', { cluster: growing }))).toMatchObject({ is: 'enter', phase: 'complete' });
    expect(stepIn(world('complete', { retainedClaims: [old] }))).toBe('discard-old-data');
    expect(stepIn(world('complete', { retainedClaims: [old], cluster: { keepsVolumes: true } }))).toBe('keep-old-data');
    expect(stepIn(world('complete'))).toBe('unpin');
    expect(planRestore(world('complete', { isPinned: false }))).toEqual({ is: 'over' });
  });
});
