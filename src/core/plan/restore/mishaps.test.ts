import { describe, expect, it } from 'vitest';
import { now, old, seed, stepIn, world } from '../../../../test/support/restore-worlds.ts';
import { planRestore } from './plan-restore.ts';

describe('what goes wrong on the way', () => {
  const held = { heldBy: 'u', holdAskedBy: 'u' };

  it('a seed that is not there or not ready keeps the old members where they are', () => {
    expect(stepIn(world('switching', { cluster: { ...held, seed: undefined } }))).toBe('start-seed');
    for (const state of ['stopping', 'starting', 'broken'] as const) {
      const verdict = planRestore(world('switching', { cluster: { ...held, seed: { ...seed, state } } }));
      expect(verdict).toMatchObject({ is: 'wait' });
    }
    expect(stepIn(world('switching', { cluster: { ...held, seed } }))).toBe('stop-pods');
  });

  it('a member of the cluster that has the name of the seed is left alone, and the seed gets another', () => {
    const taken = { isSeedNameTaken: true, seed: undefined };
    expect(planRestore(world('seeding', { cluster: taken, spareName: 'db-4' }))).toMatchObject({
      ...{ is: 'enter', phase: 'seeding', seed: 'db-4' },
    });
    expect(stepIn(world('seeding', { cluster: taken, hasSeedVolume: true }))).toBe('discard-seed');
    expect(planRestore(world('switching', { cluster: { ...held, ...taken } }))).toMatchObject({
      ...{ is: 'enter', phase: 'failed', message: expect.stringContaining('was not touched') as string },
    });
    const alone = { ...held, ...taken, oldPods: [] };
    expect(planRestore(world('switching', { cluster: alone }))).toMatchObject({ is: 'wait', isBlocked: true });
  });

  it("who serves the cluster's own data is not what was restored", () => {
    for (const found of [
      { ...seed, clusterId: 'aaa' },
      { ...seed, isHandedOver: true },
    ])
      expect(planRestore(world('seeding', { cluster: { seed: found } }))).toMatchObject({
        ...{ is: 'enter', phase: 'failed', message: expect.stringContaining('was not touched') as string },
      });
  });

  it('a seed that is being deleted does not take the place', () => {
    const cluster = { ...held, oldPods: [], oldClaims: [], seed: { ...seed, state: 'stopping' as const } };
    expect(planRestore(world('switching', { cluster }))).toMatchObject({ is: 'wait' });
  });

  it('old members whose node is lost are not waited for', () => {
    const going = { ...old, isGoing: true };
    const waiting = planRestore(world('switching', { cluster: { ...held, oldPods: [going], seed } }));
    expect(waiting).toMatchObject({ is: 'wait', message: expect.stringContaining('db-old') as string });
    const overdue = [{ ...going, isOverdue: true }];
    expect(stepIn(world('switching', { cluster: { ...held, oldPods: overdue, seed } }))).toBe('set-aside');
  });

  it('a cluster that is another by now is not called restored, and old data stays', () => {
    const verdict = planRestore(world('growing', { cluster: { clusterId: 'ccc' }, aside: [old] }));
    expect(verdict).toMatchObject({ is: 'enter', phase: 'failed' });
    expect(planRestore(world('failed', { aside: [old], isPinned: false }))).toEqual({ is: 'over' });
  });

  it('a cluster that has lost what was restored is not waited for without end', () => {
    const lost = { clusterId: 'bbb', isSettled: false, isLost: true };
    expect(planRestore(world('growing', { cluster: lost }))).toMatchObject({ is: 'wait' });
    const later = { cluster: lost, memory: { since: now - 400_000 } };
    expect(planRestore(world('growing', later))).toMatchObject({ is: 'enter', phase: 'failed' });
  });

  it('one that failed holds nobody up', () => {
    expect(stepIn(world('failed', { cluster: held }))).toBe('release-cluster');
  });
});
