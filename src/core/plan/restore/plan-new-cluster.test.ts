import { describe, expect, it } from 'vitest';
import { type Over, proof, seed, stepIn, world } from '../../../../test/support/restore-worlds.ts';
import type { RestorePhase, RestoreWorld } from '../../model/restore.ts';
import { planRestore } from './plan-restore.ts';

describe('a cluster that is to be made', () => {
  const { intent: existing } = world('proving');
  const intent = { ...existing, into: 'new' as const };
  const none = { isThere: false, clusterId: undefined, isSettled: false, oldPods: [], oldClaims: [] };
  const making = (phase: RestorePhase, over: Over & { readonly cluster?: object } = {}): RestoreWorld =>
    world(phase, { isClusterGone: true, ...over, intent, cluster: { ...none, ...over.cluster } });

  it('is made only when the seed serves, held from its first moment, and then goes the way of all', () => {
    expect(stepIn(making('proving'))).toBe('prove');
    expect(stepIn(making('seeding'))).toBe('start-seed');
    expect(planRestore(making('seeding', { cluster: { seed } }))).toMatchObject({ is: 'enter', phase: 'switching' });
    expect(stepIn(making('switching', { cluster: { seed }, isPinned: false }))).toBe('pin');
    expect(stepIn(making('switching', { cluster: { seed } }))).toBe('create-cluster');
    const made = { seed, isThere: true, holdAskedBy: 'u' };
    expect(planRestore(making('switching', { cluster: made, isClusterGone: false }))).toMatchObject({ is: 'wait' });
    const held = { ...made, heldBy: 'u' };
    expect(stepIn(making('switching', { cluster: held, isClusterGone: false }))).toBe('hand-over');
  });

  it('has a name that nobody else has, or nothing is touched', () => {
    const taken = 'volume db-0 of an earlier cluster is still there';
    for (const phase of ['proving', 'seeding', 'switching'] as const)
      expect(planRestore(making(phase, { taken, cluster: { seed } }))).toMatchObject({
        ...{ is: 'enter', phase: 'failed', message: `nothing was touched: ${taken}` },
      });
    expect(planRestore({ ...making('failed', { taken }), seedPod: seed })).toMatchObject({
      ...{ is: 'act', step: { kind: 'discard-seed' } },
    });
  });

  it('says that it was not made, where the backup is no good', () => {
    expect(planRestore(making('proving', { proof: proof(false) }))).toMatchObject({
      message: 'the backup cannot be used, and EtcdCluster "db" was not made: bytes were lost',
    });
  });

  it('is not made any more when the restore goes, with its namespace perhaps', () => {
    expect(planRestore(making('switching', { cluster: { seed }, isGoing: true }))).toMatchObject({
      ...{ is: 'enter', phase: 'failed' },
    });
  });

  it('ends it when it is deleted while it grows', () => {
    expect(planRestore(making('growing'))).toMatchObject({ is: 'enter', phase: 'failed' });
  });
});

describe('a cluster that is made as the backup says', () => {
  const { intent: existing } = world('proving');
  const intent = { ...existing, into: 'new' as const };
  const unread = (phase: RestorePhase, over: Over = {}): RestoreWorld =>
    world(phase, { intent, isClusterGone: true, isUndescribed: true, cluster: 'it has not been read', ...over });

  it('is known when the backup has been read, and not before', () => {
    expect(stepIn(unread('proving'))).toBe('prove');
    expect(planRestore(unread('proving', { obstacle: 'no Secret' }))).toMatchObject({ is: 'wait', isBlocked: true });
    const reading = { ...proof(true), state: { is: 'running' as const } };
    expect(planRestore(unread('proving', { proof: reading }))).toMatchObject({ is: 'wait' });
  });

  it('is not made of a backup that says nothing of it', () => {
    expect(planRestore(unread('proving', { proof: proof(true), cluster: 'nothing says what it was' }))).toMatchObject({
      ...{ is: 'enter', phase: 'failed', message: 'nothing says what it was' },
    });
  });

  it('is asked for again where the pod that read it is gone', () => {
    for (const phase of ['seeding', 'switching'] as const) expect(stepIn(unread(phase))).toBe('prove');
    const reading = { ...proof(true), state: { is: 'running' as const } };
    expect(planRestore(unread('seeding', { proof: reading }))).toMatchObject({ is: 'wait', isBlocked: true });
  });
});

it('says so where the cluster is paused, and so never grows', () => {
  const cluster = { clusterId: 'bbb', isSettled: false, isPaused: true, seed: { ...seed, isHandedOver: true } };
  expect(planRestore(world('growing', { cluster }))).toMatchObject({
    ...{ is: 'wait', isBlocked: true, message: expect.stringContaining('clear spec.paused') },
  });
});
