import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  durable,
  nameOf,
  outOfContact,
  withMember,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import type { LegacyReplicaSet, Memory } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';

const voters = ['db-0', 'db-1', 'db-2'].map(nameOf);
const nothing: Memory = { bootstrap: undefined, clusterId: undefined, voters: [], version: undefined };

const remembering =
  (memory: Partial<Memory>): Change =>
  (w) => ({ ...w, memory: { ...nothing, ...memory } });
const foreign: Change = (w) => ({
  ...w,
  memberPods: w.memberPods.map((memberPod) => ({ ...memberPod, isForeign: true, bootstrapForbidden: false })),
});
const withReplicaSets =
  (change: Partial<LegacyReplicaSet> = {}): Change =>
  (w) => ({
    ...w,
    legacyReplicaSets: voters.map((name) => ({ name, uid: `replicaset-of-${name}`, isLeaving: false, ...change })),
  });
const withoutPods: Change = (w) => ({ ...w, memberPods: [] });
const bare: Change = (w) => ({
  ...w,
  memberPods: w.memberPods.map((memberPod) => ({ ...memberPod, phase: 'gone', isForeign: false, version: '' })),
});
const down: Change = (w) => ({ ...w, memberPods: w.memberPods.map((memberPod) => ({ ...memberPod, phase: 'ended' })) });

const plan = (...changes: readonly Change[]) => planCluster(aWorld(remembering({}), ...changes));
const stepsOf = (...changes: readonly Change[]): readonly string[] => {
  const verdict = plan(...changes);
  return verdict.is === 'act' ? verdict.steps.map(({ kind }) => kind) : [verdict.is];
};

describe('a cluster that another operator created', () => {
  it('loses its ReplicaSets before any other step, and its pods are orphaned', () => {
    expect(plan(foreign, withReplicaSets())).toMatchObject({
      is: 'act',
      reason: 'TakingOver',
      steps: voters.map((name) => ({ kind: 'release-member-pod', name, uid: `replicaset-of-${name}` })),
    });
    expect(plan(foreign, withReplicaSets({ isLeaving: true }))).toMatchObject({ is: 'wait', reason: 'TakingOver' });
  });

  it('is not changed while the operator may not read ReplicaSets', () => {
    const hidden: Change = (w) => ({ ...w, missingPermission: 'may not look' });
    for (const changes of [[foreign], [bare], [foreign, outOfContact()], [withoutPods, outOfContact()]])
      expect(plan(...changes, hidden)).toMatchObject({
        is: 'wait',
        reason: 'MissingRights',
        message: 'may not look',
        needsUserAction: true,
      });
  });

  it('then has its pods adopted without a restart', () => {
    expect(plan(foreign)).toMatchObject({
      is: 'act',
      reason: 'TakingOver',
      steps: voters.map((name) => ({ kind: 'adopt-member-pod', name, uid: `uid-of-${name}` })),
    });
  });

  it('is recorded only after all its pods are adopted', () => {
    expect(stepsOf(foreign, withMemberPod('db-0', { isForeign: false }))).toEqual([
      'adopt-member-pod',
      'adopt-member-pod',
    ]);
    expect(stepsOf()).toEqual(['record-formation']);
  });

  it('is adopted with an unreachable member if there is quorum', () => {
    expect(stepsOf(foreign, withMember('db-2', { health: 'silent' }))).toContain('adopt-member-pod');
    const alone: Change = (w) => withMember('db-1', { health: 'silent' })(withMember('db-2', { health: 'lost' })(w));
    expect(plan(foreign, alone)).toMatchObject({ is: 'wait', reason: 'NoContact' });
  });

  it.each([
    ['with pods', [foreign]],
    ['with pods of ReplicaSets', [foreign, withReplicaSets()]],
    ['with ReplicaSets that recreate its pods', [bare, durable(), withReplicaSets()]],
    ['with PVCs and some running pods', [foreign, durable(), withMemberPod('db-1', { phase: 'ended' })]],
  ])('is not changed while no member answers, %s', (_, changes) => {
    expect(plan(...changes, outOfContact())).toMatchObject({ is: 'wait', reason: 'NoContact' });
    expect(plan(...changes, outOfContact(), remembering({ voters }))).toMatchObject({
      is: 'wait',
      reason: 'NoContact',
    });
  });

  it('is restarted on its PVCs when none of its pods runs', () => {
    const inherited = [foreign, durable(), down, outOfContact(), remembering({ voters, version: '3.2.13' })];
    expect(stepsOf(...inherited)).toEqual(['stop-member-pod', 'stop-member-pod', 'stop-member-pod']);
    expect(plan(...inherited, bare)).toMatchObject({
      is: 'act',
      steps: voters.map((name) => ({ kind: 'start-member-pod', name, join: { as: 'restarting' }, version: '3.2.13' })),
    });
    expect(stepsOf(...inherited, bare, withReplicaSets())).toEqual(['wait']);
  });

  it('is never bootstrapped again: without pods and PVCs it needs user action', () => {
    expect(plan(withoutPods, outOfContact(), remembering({ voters }))).toMatchObject({
      is: 'wait',
      reason: 'QuorumLost',
      needsUserAction: true,
    });
    expect(stepsOf(withoutPods, outOfContact())).toEqual(['record-bootstrap']);
  });
});

it('pods without our annotations are not adopted in a cluster of ours', () => {
  expect(planCluster(aWorld((w) => foreign(w)))).not.toMatchObject({ reason: 'TakingOver' });
});
