import { describe, expect, it } from 'vitest';
import { now, old, proof, seed, stepIn, world } from '../../../../test/support/restore-worlds.ts';
import type { Body, RestoredCluster } from '../../model/restore.ts';
import { planRestore } from './plan-restore.ts';

const failedWith = (seedPod: Body) => planRestore({ ...world('failed'), seedPod });
const discard = { is: 'act', step: { kind: 'discard-seed', name: 'db-new' } };

describe('before anything of the cluster is touched', () => {
  it('the backup is looked at', () => {
    expect(stepIn(world('proving'))).toBe('prove');
    expect(planRestore(world('proving', { proof: proof(true) }))).toMatchObject({
      ...{ is: 'enter', phase: 'seeding', seed: 'db-new' },
    });
  });

  it('a backup that is no good ends it', () => {
    expect(planRestore(world('proving', { proof: proof(false) }))).toEqual({
      ...{ is: 'enter', phase: 'failed' },
      message: 'the backup cannot be used, and EtcdCluster "db" was not touched: bytes were lost',
    });
    expect(planRestore(world('failed'))).toMatchObject({ is: 'act', step: { kind: 'unpin' } });
    expect(planRestore(world('failed', { isPinned: false }))).toEqual({ is: 'over' });
  });

  it('a volume is made while it is looked at, unless it lies on one itself', () => {
    const looking = { ...proof(true), state: { is: 'running' as const } };
    expect(planRestore(world('proving', { proof: looking }))).toMatchObject({ is: 'enter', phase: 'seeding' });
    expect(planRestore(world('proving', { proof: looking, isOnVolume: true }))).toMatchObject({ is: 'wait' });
  });

  it('a backup that is seen to be no good meanwhile ends it, unless its seed serves already', () => {
    const seen = (ok: boolean, cluster = {}) => planRestore(world('seeding', { proof: proof(ok), cluster }));
    expect(seen(false)).toMatchObject({ phase: 'failed', message: expect.stringContaining('was not touched') });
    expect(seen(true)).toMatchObject({ is: 'act', step: { kind: 'start-seed' } });
    expect(seen(false, { seed })).toMatchObject({ phase: 'switching' });
    const report = { ok: false, message: 'Error', facts: {}, isCutShort: true };
    const killed = { ...proof(false), state: { is: 'ended' as const, report } };
    expect(stepIn(world('seeding', { proof: killed }))).toBe('start-seed');
  });

  it('what was made for one that failed goes, a volume without its pod too, once', () => {
    expect(stepIn(world('failed', { hasSeedVolume: true }))).toBe('discard-seed');
    expect(failedWith(seed)).toMatchObject(discard);
    expect(failedWith({ ...seed, isGoing: true })).toMatchObject({ is: 'wait' });
    expect(failedWith({ ...seed, isGoing: true, isOverdue: true })).not.toMatchObject({ is: 'wait' });
  });

  it('one who was ended while looking at it is followed by another, for a while', () => {
    const report = { ok: false, message: 'Error', facts: {}, isCutShort: true };
    const ended = { ...proof(false), state: { is: 'ended' as const, report } };
    expect(stepIn(world('proving', { proof: ended }))).toBe('discard-proof');
    const late = world('proving', { proof: ended, memory: { since: now - 600_000 } });
    expect(planRestore(late)).toMatchObject({ is: 'enter', phase: 'failed' });
  });

  it('a seed that breaks off long after it was made has time to go on', () => {
    const since = now - 1_000_000;
    const broken = { ...seed, state: 'broken' as const, why: 'back-off', clusterId: undefined };
    const at = (workedUntil?: number) =>
      planRestore(world('seeding', { memory: { since }, cluster: { seed: { ...broken, workedUntil } } }));
    expect(at(now - 10_000)).toMatchObject({ is: 'wait' });
    expect(at(now - 301_000)).toMatchObject({ phase: 'failed' });
    expect(at()).toMatchObject({ phase: 'failed' });
  });

  it('a store that is out of reach for a moment does not end it', () => {
    const report = { ok: false, message: 'no connection', facts: {}, mayPass: true };
    const failed = { ...proof(false), state: { is: 'ended' as const, report } };
    expect(stepIn(world('proving', { proof: failed }))).toBe('discard-proof');
    expect(stepIn(world('seeding', { proof: failed }))).toBe('start-seed');
    const late = world('proving', { proof: failed, memory: { since: now - 600_000 } });
    expect(planRestore(late)).toMatchObject({ phase: 'failed', message: expect.stringContaining('no connection') });
  });

  it('a backup that is no good when it is read to its end ends it at once, and the seed goes', () => {
    const found = { ...seed, state: 'refused' as const, why: 'bytes were lost', clusterId: undefined };
    expect(planRestore(world('seeding', { cluster: { seed: found } }))).toEqual({
      ...{ is: 'enter', phase: 'failed' },
      message: 'the backup cannot be used, and EtcdCluster "db" was not touched: bytes were lost',
    });
    expect(failedWith(found)).toMatchObject(discard);
  });

  it('what is missing is waited for', () => {
    expect(planRestore(world('proving', { obstacle: 'no Secret' }))).toMatchObject({
      is: 'wait',
      message: 'no Secret',
    });
    expect(planRestore(world('proving', { cluster: 'no cluster' }))).toMatchObject({ is: 'wait', isBlocked: true });
  });

  it('revisions that are to leap in an etcd that cannot end it', () => {
    const { intent } = world('proving');
    const leaping = { intent: { ...intent, revisionBump: 1 } };
    expect(planRestore(world('proving', leaping))).toMatchObject({ is: 'enter', phase: 'failed' });
    expect(stepIn(world('proving', { ...leaping, cluster: { version: '3.5.10' } }))).toBe('prove');
    expect(stepIn(world('proving', { ...leaping, cluster: { version: '3.6.0' } }))).toBe('prove');
  });

  it('a member that does not let us in is for a person to open, for as long as one is waited for', () => {
    const found = { ...seed, state: 'locked' as const, clusterId: undefined, why: 'no user' };
    expect(planRestore(world('seeding', { cluster: { seed: found } }))).toEqual({
      ...{ is: 'wait', isBlocked: true },
      message: 'member db-new serves what was restored, but does not let the operator in: no user',
    });
    const late = world('seeding', { cluster: { seed: found }, memory: { since: now - 3_601_000 } });
    expect(planRestore(late)).toMatchObject({ phase: 'failed', message: expect.stringContaining('no user') });
  });

  it('a member starts from it, and must serve', () => {
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

  it('a member that cannot start is given up and removed, and the cluster stays', () => {
    const broken = { ...seed, state: 'broken' as const, why: 'no such image', clusterId: undefined };
    const at = (since: number) => planRestore(world('seeding', { cluster: { seed: broken }, memory: { since } }));
    expect(at(now - 200_000)).toMatchObject({ is: 'wait' });
    expect(at(now - 400_000)).toMatchObject({ is: 'enter', phase: 'failed' });
    expect(failedWith(broken)).toMatchObject(discard);
  });
});

describe('when the seed serves', () => {
  const held = { holdAskedBy: 'u', heldBy: 'u', seed };
  const none = { oldPods: [], oldClaims: [] };

  it('everything happens in its order, and from wherever it was left', () => {
    const switching = (cluster: Partial<RestoredCluster>) => stepIn(world('switching', { cluster }));
    expect(stepIn(world('switching', { cluster: { seed }, isPinned: false }))).toBe('pin');
    expect(switching({ seed })).toBe('hold-cluster');
    expect(switching(held)).toBe('stop-pods');
    const going = { ...held, oldPods: [{ ...old, isGoing: true }] };
    expect(planRestore(world('switching', { cluster: going }))).toMatchObject({ is: 'wait' });
    expect(switching({ ...held, oldPods: [] })).toBe('set-aside');
    expect(switching({ ...held, ...none })).toBe('hand-over');
    const handedOver = { ...seed, isHandedOver: true };
    expect(switching({ ...held, ...none, seed: handedOver })).toBe('rewrite-memory');
    const after = { ...held, ...none, seed: handedOver, clusterId: 'bbb' };
    expect(planRestore(world('switching', { cluster: after }))).toMatchObject({ is: 'enter', phase: 'growing' });
    expect(stepIn(world('growing', { cluster: after }))).toBe('release-cluster');
  });

  it('nothing is stopped before the operator stands aside', () => {
    const asked = { seed, holdAskedBy: 'u' };
    expect(planRestore(world('switching', { cluster: asked }))).toMatchObject({ is: 'wait' });
    expect(planRestore(world('switching', { cluster: { ...asked, heldBy: 'another' } }))).toMatchObject({ is: 'wait' });
  });

  it('another restore of the same cluster comes first', () => {
    const others = { seed, holdAskedBy: 'another', heldBy: 'another' };
    expect(planRestore(world('switching', { cluster: others }))).toMatchObject({ is: 'wait' });
  });

  it('a cluster that is deleted meanwhile ends it, and lets the restore go', () => {
    const gone = { cluster: 'it is gone', isClusterGone: true };
    for (const phase of ['switching', 'growing'] as const)
      expect(planRestore(world(phase, gone))).toMatchObject({ is: 'enter', phase: 'failed' });
    expect(planRestore({ ...world('failed', gone), seedPod: seed })).toMatchObject(discard);
    expect(stepIn(world('failed', gone))).toBe('unpin');
    expect(planRestore(world('seeding', gone))).toMatchObject({ is: 'wait', isBlocked: true });
  });

  it('a seed that has become the member of a cluster is not removed, whatever became of that', () => {
    expect(stepIn(world('failed', { cluster: { seed } }))).toBe('unpin');
  });

  it('a seed that was lost meanwhile is made again', () => {
    expect(stepIn(world('switching', { cluster: { ...held, ...none, seed: undefined } }))).toBe('start-seed');
  });

  it('what keeps the cluster from growing is told where people look for it', () => {
    const small = { isSettled: false, clusterId: 'bbb' };
    expect(planRestore(world('growing', { cluster: small }))).toEqual({
      ...{ is: 'wait', message: 'waiting until the cluster has its full size' },
    });
    expect(planRestore(world('growing', { cluster: { ...small, trouble: 'no user' } }))).toEqual({
      ...{ is: 'wait', isBlocked: true, message: 'EtcdCluster "db" cannot grow to its size: no user' },
    });
    expect(planRestore(world('growing', { cluster: { ...small, isSettled: true, trouble: 'no user' } }))).toMatchObject(
      {
        phase: 'complete',
      },
    );
  });

  it('it is over when the cluster has its full size, and only then the old data goes', () => {
    const growing = { ...none, clusterId: 'bbb', seed: { ...seed, isHandedOver: true } };
    expect(planRestore(world('growing', { cluster: { ...growing, isSettled: false } }))).toMatchObject({ is: 'wait' });
    expect(planRestore(world('growing', { cluster: growing }))).toMatchObject({ is: 'enter', phase: 'complete' });
    expect(stepIn(world('complete', { aside: [old] }))).toBe('discard-old-data');
    expect(stepIn(world('complete', { aside: [old], cluster: { keepsVolumes: true } }))).toBe('keep-old-data');
    expect(stepIn(world('complete'))).toBe('unpin');
    expect(planRestore(world('complete', { isPinned: false }))).toEqual({ is: 'over' });
  });
});
