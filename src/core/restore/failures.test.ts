import { describe, expect, it } from 'vitest';
import { now, old, seed, stepIn, world } from '../../../test/support/restore-worlds.ts';
import { planRestore } from './plan-restore.ts';

describe('a restore with failures', () => {
  const held = { heldBy: 'u', holdAskedBy: 'u' };

  it('a missing or unready seed does not replace the old members', () => {
    expect(stepIn(world('switching', { cluster: { ...held, seed: undefined } }))).toBe('start-seed');
    for (const state of ['stopping', 'starting', 'broken'] as const) {
      const verdict = planRestore(world('switching', { cluster: { ...held, seed: { ...seed, state } } }));
      expect(verdict).toMatchObject({ is: 'wait' });
    }
    expect(stepIn(world('switching', { cluster: { ...held, seed } }))).toBe('stop-pods');
  });

  it('a member with the name of the seed is not touched, and the seed gets another name', () => {
    const taken = { isSeedNameTaken: true, seed: undefined };
    expect(planRestore(world('seeding', { cluster: taken, spareName: 'db-4' }))).toMatchObject({
      ...{ is: 'enter', phase: 'seeding', seed: 'db-4' },
    });
    expect(stepIn(world('seeding', { cluster: taken, hasSeedVolume: true }))).toBe('discard-seed');
    expect(planRestore(world('switching', { cluster: { ...held, ...taken } }))).toMatchObject({
      ...{ is: 'enter', phase: 'failed', message: expect.stringContaining('was not changed') as string },
    });
    const alone = { ...held, ...taken, oldPods: [] };
    expect(planRestore(world('switching', { cluster: alone }))).toMatchObject({ is: 'wait', isBlocked: true });
  });

  it('a member with the old cluster ID is not taken for the seed', () => {
    for (const found of [
      { ...seed, clusterId: 'aaa' },
      { ...seed, isHandedOver: true },
    ])
      expect(planRestore(world('seeding', { cluster: { seed: found } }))).toMatchObject({
        ...{ is: 'enter', phase: 'failed', message: expect.stringContaining('was not changed') as string },
      });
  });

  it('a terminating seed does not replace the old members', () => {
    const cluster = { ...held, oldPods: [], oldClaims: [], seed: { ...seed, state: 'stopping' as const } };
    expect(planRestore(world('switching', { cluster }))).toMatchObject({ is: 'wait' });
  });

  it('old members on a lost node are not waited for', () => {
    const going = { ...old, isTerminating: true };
    const waiting = planRestore(world('switching', { cluster: { ...held, oldPods: [going], seed } }));
    expect(waiting).toMatchObject({ is: 'wait', message: expect.stringContaining('db-old') as string });
    const overdue = [{ ...going, isOverdue: true }];
    expect(stepIn(world('switching', { cluster: { ...held, oldPods: overdue, seed } }))).toBe('set-aside');
  });

  it('a cluster with another cluster ID fails the restore, and the old PVCs stay', () => {
    const verdict = planRestore(world('growing', { cluster: { clusterId: 'ccc' }, retainedClaims: [old] }));
    expect(verdict).toMatchObject({ is: 'enter', phase: 'failed' });
    expect(planRestore(world('failed', { retainedClaims: [old], isPinned: false }))).toEqual({ is: 'over' });
  });

  it('a cluster that has lost the restored data fails the restore after a while', () => {
    const lost = { clusterId: 'bbb', isSettled: false, isLost: true };
    expect(planRestore(world('growing', { cluster: lost }))).toMatchObject({ is: 'wait' });
    const later = { cluster: lost, memory: { since: now - 400_000 } };
    expect(planRestore(world('growing', later))).toMatchObject({ is: 'enter', phase: 'failed' });
  });

  it('a failed restore releases the cluster', () => {
    expect(stepIn(world('failed', { cluster: held }))).toBe('release-cluster');
  });
});
