import { describe, expect, it } from 'vitest';
import {
  aMember,
  aWorld,
  type Change,
  durable,
  outOfContact,
  wanting,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import type { ClusterWorld, MemberPod } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';

/** Two of three bootstrap members cannot start. */
const bootstrapping = (size: number): ClusterWorld => {
  const stuck = { phase: 'stuck', why: 'no node', ready: false, hasRun: false } as const;
  return aWorld(
    ...[unrecorded, outOfContact(), wanting(size)],
    ...[withMemberPod('db-0', { ready: false }), withMemberPod('db-1', stuck), withMemberPod('db-2', stuck)],
  );
};

const unrecorded: Change = (world) => ({
  ...world,
  memory: { ...world.memory, clusterId: undefined, voters: [], version: undefined },
});
const lost =
  (...names: readonly string[]): Change =>
  (world) => ({ ...world, memberPods: world.memberPods.filter(({ name }) => !names.includes(name)) });
const unready = (fields: Partial<MemberPod> = {}): Change => withMemberPod('db-0', { ready: false, ...fields });
/** The member list of one member without quorum. */
const unconfirmed =
  (hasNeverServed: boolean): Change =>
  (world) => ({
    ...world,
    membership: {
      ...{ seen: false, why: 'no majority' },
      unconfirmed: {
        clusterId: 'c1',
        members: (world.memory.bootstrap?.members ?? []).map((name, i) => ({ ...aMember(name, i), hasNeverServed })),
      },
    },
  });
const listening = { ready: true, listensOnly: true } as const;
const bootstrapped = (...changes: readonly Change[]): readonly string[] => {
  const verdict = planCluster(aWorld(unrecorded, outOfContact(), ...changes));
  const steps = verdict.is === 'act' ? verdict.steps : [];
  return steps.flatMap((step) => (step.kind === 'start-member-pod' && step.join.as === 'bootstrap' ? [step.name] : []));
};

describe('bootstrap members that lose their pods before the status records the formed cluster', () => {
  it.each<[string, readonly Change[]]>([
    ['another bootstrap member is ready', [lost('db-1', 'db-2')]],
    ['another bootstrap member has been ready', [lost('db-1', 'db-2'), unready({ hasFallenUnready: true })]],
    ['the member list of another has client URLs', [lost('db-1', 'db-2'), unready(), unconfirmed(false)]],
    ['a majority of ports is open', [lost('db-2'), withMemberPod('db-0', listening), withMemberPod('db-1', listening)]],
  ])('do not bootstrap again if %s', (_, changes) => expect(bootstrapped(...changes)).toEqual([]));

  it.each<[string, readonly Change[]]>([
    ['no other has been ready', [lost('db-1', 'db-2'), unready()]],
    ['the member list of another has no client URLs', [lost('db-1', 'db-2'), unready(), unconfirmed(true)]],
    [
      'fewer than a majority of ports are open, and none has served',
      [lost('db-1', 'db-2'), withMemberPod('db-0', listening)],
    ],
  ])('bootstrap again if %s', (_, changes) => expect(bootstrapped(...changes)).toEqual(['db-1', 'db-2']));

  it('are reported as lost quorum if they had no PVC', () =>
    expect(planCluster(aWorld(unrecorded, outOfContact(), lost('db-1', 'db-2')))).toMatchObject({
      reason: 'QuorumLost',
      message: 'quorum lost: 2 of 3 members have lost their data; restore a backup',
    }));

  it('restart on their PVCs if they have them', () => {
    const gone = { phase: 'gone', ready: false } as const;
    const world = aWorld(unrecorded, outOfContact(), durable(), withMemberPod('db-1', gone));
    expect(planCluster(world)).toMatchObject({
      steps: [{ kind: 'start-member-pod', name: 'db-1', join: { as: 'restarting' } }],
    });
  });
});

it('the message names the cause if a bootstrap member cannot start', () =>
  expect(planCluster(bootstrapping(3))).toMatchObject({
    reason: 'MemberStuck',
    message: 'db-1 cannot start: no node',
  }));

it('the message names the remedy if spec.size is lowered before the bootstrap members start', () =>
  expect(planCluster(bootstrapping(1))).toMatchObject({
    reason: 'MemberStuck',
    message: expect.stringContaining('delete and recreate the EtcdCluster'),
  }));
