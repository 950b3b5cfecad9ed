import { describe, expect, it } from 'vitest';
import {
  aMember,
  aWorld,
  type Change,
  durable,
  imageOf,
  outOfContact,
  wanting,
  withIntent,
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
const unreadyAll: Change = (world) => ({
  ...world,
  memberPods: world.memberPods.map((memberPod) => ({ ...memberPod, ready: false })),
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
    ['another bootstrap member has been ready', [lost('db-1', 'db-2'), unready({ hasBeenReady: true })]],
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

/** All pods are gone, their PVCs have data of etcd 3.5.20, and spec.version was raised. */
const heldBack = (...changes: readonly Change[]): ClusterWorld => {
  const gone = { phase: 'gone', ready: false, hasRun: false, version: '3.5.20', mayHaveData: true } as const;
  const each = ['db-0', 'db-1', 'db-2'].map((name) => withMemberPod(name, gone));
  return aWorld(unrecorded, outOfContact(), durable(), withIntent({ version: '3.6.16' }), ...each, ...changes);
};
const startedVersions = (world: ClusterWorld): readonly string[] => {
  const verdict = planCluster(world);
  const steps = verdict.is === 'act' ? verdict.steps : [];
  return steps.flatMap((step) => (step.kind === 'start-member-pod' ? [`${step.name} ${step.version}`] : []));
};

describe('bootstrap members whose pods are gone before the status records the formed cluster', () => {
  it('start with the version of their data, not with another minor', () =>
    expect(startedVersions(heldBack())).toEqual(['db-0 3.5.20', 'db-1 3.5.20', 'db-2 3.5.20']));

  it('start with the version of the data of others if their own PVC has none', () => {
    const fresh = withMemberPod('db-2', { mayHaveData: false });
    expect(startedVersions(heldBack(fresh))).toEqual(['db-0 3.5.20', 'db-1 3.5.20', 'db-2 3.5.20']);
    const forgotten = lost('db-2');
    expect(startedVersions(heldBack(forgotten))).toContain('db-2 3.5.20');
  });

  it('start with another patch of the same minor', () =>
    expect(startedVersions(heldBack(withIntent({ version: '3.5.35' })))).toContain('db-0 3.5.35'));

  it('start with spec.version if no PVC can have data', () => {
    const each = ['db-0', 'db-1', 'db-2'].map((name) => withMemberPod(name, { mayHaveData: false }));
    expect(startedVersions(heldBack(...each))).toEqual(['db-0 3.6.16', 'db-1 3.6.16', 'db-2 3.6.16']);
  });

  it('keep that version until the cluster has formed, and the message names both versions', () => {
    const starting = { phase: 'starting', image: imageOf('3.5.20'), uid: 'u' } as const;
    const each = ['db-0', 'db-1', 'db-2'].map((name) => withMemberPod(name, starting));
    expect(planCluster(heldBack(...each))).toMatchObject({
      is: 'wait',
      reason: 'Forming',
      message: 'waiting for the bootstrap members to form the cluster with etcd 3.5.20, before the change to 3.6.16',
    });
    expect(planCluster(heldBack(...each, withMemberPod('db-0', { phase: 'stuck', why: 'no image' })))).toMatchObject({
      reason: 'MemberStuck',
      message: expect.stringMatching(/^db-0 cannot start: no image; .*set spec.version to 3.5.20 or another release/),
    });
  });
});

describe('a bootstrap member that cannot start when the version of the spec is corrected', () => {
  const stuck = { phase: 'stuck', why: 'no image', ready: false, version: '3.5.20', image: imageOf('3.5.20') } as const;
  const corrected = (...changes: readonly Change[]): ReturnType<typeof planCluster> =>
    planCluster(
      aWorld(unrecorded, outOfContact(), withIntent({ version: '3.6.16' }), ...changes, withMemberPod('db-0', stuck)),
    );
  const step = { name: 'db-0', uid: 'uid-of-db-0' };

  it('gets the version in place if its PVC has no data, so that the PVC has the same version', () =>
    expect(corrected(unreadyAll, durable())).toMatchObject({
      steps: expect.arrayContaining([{ kind: 'change-image', ...step, from: '3.5.20', to: '3.6.16' }]),
    }));

  it('keeps its version if its PVC may have data', () =>
    expect(corrected(unreadyAll, durable(), withMemberPod('db-0', { mayHaveData: true }))).not.toMatchObject({
      steps: expect.arrayContaining([expect.objectContaining(step)]),
    }));

  it('is recreated if it has an emptyDir', () =>
    expect(corrected(unreadyAll)).toMatchObject({
      steps: expect.arrayContaining([{ kind: 'stop-member-pod', ...step }]),
    }));
});

describe('a bootstrap member whose PVC has lost its volume', () => {
  const lostFor = (unreadyMillis: number): Change =>
    withMemberPod('db-0', { phase: 'starting', ready: false, volume: 'lost', claim: 'db-0', unreadyMillis });
  const plan = (...changes: readonly Change[]) =>
    planCluster(aWorld(unrecorded, outOfContact(), unreadyAll, ...changes));

  it('is reported with the remedy', () =>
    expect(plan(lostFor(16_000))).toMatchObject({
      ...{ is: 'wait', reason: 'MemberStuck', needsUserAction: true },
      message: expect.stringMatching(/^db-0 cannot start: the volume of PersistentVolumeClaim db-0 is lost; delete/),
    }));

  it('is waited for while a cache may be late', () =>
    expect(plan(lostFor(1_000))).toMatchObject({ is: 'wait', reason: 'Forming' }));
});
