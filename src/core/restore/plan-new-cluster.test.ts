import { describe, expect, it } from 'vitest';
import { type Over, proof, seed, stepIn, world } from '../../../test/support/restore-worlds.ts';
import type { RestorePhase, RestoreWorld } from './model.ts';
import { planRestore } from './plan-restore.ts';

describe('a restore into a new cluster', () => {
  const { intent: existing } = world('proving');
  const intent = { ...existing, into: 'new' as const };
  const none = { isThere: false, clusterId: undefined, isSettled: false, oldPods: [], oldClaims: [] };
  const creating = (phase: RestorePhase, over: Over & { readonly cluster?: object } = {}): RestoreWorld =>
    world(phase, { isClusterGone: true, ...over, intent, cluster: { ...none, ...over.cluster } });

  it('creates the cluster in the held state after the seed serves', () => {
    expect(stepIn(creating('proving'))).toBe('prove');
    expect(stepIn(creating('seeding'))).toBe('start-seed');
    expect(planRestore(creating('seeding', { cluster: { seed } }))).toMatchObject({ is: 'enter', phase: 'switching' });
    expect(stepIn(creating('switching', { cluster: { seed }, isPinned: false }))).toBe('pin');
    expect(stepIn(creating('switching', { cluster: { seed } }))).toBe('create-cluster');
    const made = { seed, isThere: true, holdAskedBy: 'u' };
    expect(planRestore(creating('switching', { cluster: made, isClusterGone: false }))).toMatchObject({ is: 'wait' });
    const held = { ...made, heldBy: 'u' };
    expect(stepIn(creating('switching', { cluster: held, isClusterGone: false }))).toBe('hand-over');
  });

  it('fails without changes if the name is taken', () => {
    const nameConflict = 'PersistentVolumeClaim db-0 of an earlier cluster still exists';
    for (const phase of ['proving', 'seeding', 'switching'] as const)
      expect(planRestore(creating(phase, { nameConflict, cluster: { seed } }))).toMatchObject({
        ...{ is: 'enter', phase: 'failed', message: `nothing was changed: ${nameConflict}` },
      });
    expect(planRestore({ ...creating('failed', { nameConflict }), seedPod: seed })).toMatchObject({
      ...{ is: 'act', step: { kind: 'discard-seed' } },
    });
  });

  it('reports that the cluster was not created if the backup is invalid', () => {
    expect(planRestore(creating('proving', { proof: proof(false) }))).toMatchObject({
      message: 'the backup cannot be used, and EtcdCluster "db" was not created: bytes were lost',
    });
  });

  it('does not create the cluster if the EtcdRestore is terminating', () => {
    expect(planRestore(creating('switching', { cluster: { seed }, isTerminating: true }))).toMatchObject({
      ...{ is: 'enter', phase: 'failed' },
    });
  });

  it('fails if the cluster is deleted while it grows', () => {
    expect(planRestore(creating('growing'))).toMatchObject({ is: 'enter', phase: 'failed' });
  });
});

describe('a restore with the cluster spec from the backup', () => {
  const { intent: existing } = world('proving');
  const intent = { ...existing, into: 'new' as const };
  const unread = (phase: RestorePhase, over: Over = {}): RestoreWorld =>
    world(phase, { intent, isClusterGone: true, isUndescribed: true, cluster: 'it has not been read', ...over });

  it('waits until the backup is read', () => {
    expect(stepIn(unread('proving'))).toBe('prove');
    expect(planRestore(unread('proving', { obstacle: 'no Secret' }))).toMatchObject({ is: 'wait', isBlocked: true });
    const reading = { ...proof(true), state: { is: 'running' as const } };
    expect(planRestore(unread('proving', { proof: reading }))).toMatchObject({ is: 'wait' });
  });

  it('fails if the backup contains no cluster spec', () => {
    expect(planRestore(unread('proving', { proof: proof(true), cluster: 'nothing says what it was' }))).toMatchObject({
      ...{ is: 'enter', phase: 'failed', message: 'nothing says what it was' },
    });
  });

  it('reads the backup again if the pod that read it is gone', () => {
    for (const phase of ['seeding', 'switching'] as const) expect(stepIn(unread(phase))).toBe('prove');
    const reading = { ...proof(true), state: { is: 'running' as const } };
    expect(planRestore(unread('seeding', { proof: reading }))).toMatchObject({ is: 'wait', isBlocked: true });
  });
});

it('a restore of a paused cluster is blocked, and the message names spec.paused', () => {
  const cluster = { clusterId: 'bbb', isSettled: false, isPaused: true, seed: { ...seed, isHandedOver: true } };
  expect(planRestore(world('growing', { cluster }))).toMatchObject({
    ...{ is: 'wait', isBlocked: true, message: expect.stringContaining('clear spec.paused') },
  });
});
