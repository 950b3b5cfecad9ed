import { describe, expect, it } from 'vitest';
import {
  aMember,
  aWorld,
  type Change,
  durable,
  outOfContact,
  wanting,
  withCarrier,
} from '../../../../test/support/worlds.ts';
import type { Carrier, ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';

/** Two of three founders cannot start. */
const founding = (size: number): ClusterWorld => {
  const stuck = { phase: 'stuck', why: 'no node', ready: false, hasRun: false } as const;
  return aWorld(
    ...[notWrittenDown, outOfContact(), wanting(size)],
    ...[withCarrier('db-0', { ready: false }), withCarrier('db-1', stuck), withCarrier('db-2', stuck)],
  );
};

const notWrittenDown: Change = (world) => ({
  ...world,
  memory: { ...world.memory, clusterId: undefined, voters: [], version: undefined },
});
const lost =
  (...names: readonly string[]): Change =>
  (world) => ({ ...world, carriers: world.carriers.filter(({ name }) => !names.includes(name)) });
const unready = (fields: Partial<Carrier> = {}): Change => withCarrier('db-0', { ready: false, ...fields });
/** What one member says without a majority. */
const rumour =
  (hasNeverServed: boolean): Change =>
  (world) => ({
    ...world,
    membership: {
      ...{ seen: false, why: 'no majority' },
      rumour: {
        clusterId: 'c1',
        members: (world.memory.bootstrap?.members ?? []).map((name, i) => ({ ...aMember(name, i), hasNeverServed })),
      },
    },
  });
const listening = { ready: true, listensOnly: true } as const;
const startedAsNew = (...changes: readonly Change[]): readonly string[] => {
  const verdict = planCluster(aWorld(notWrittenDown, outOfContact(), ...changes));
  const steps = verdict.is === 'act' ? verdict.steps : [];
  return steps.flatMap((step) => (step.kind === 'start-carrier' && step.join.as === 'founder' ? [step.name] : []));
};

describe('bootstrap members whose pods are lost before the status says that the cluster has formed', () => {
  it.each<[string, readonly Change[]]>([
    ['another bootstrap member is ready', [lost('db-1', 'db-2')]],
    ['another bootstrap member has been ready', [lost('db-1', 'db-2'), unready({ hasFallenUnready: true })]],
    ['the list of another has client URLs', [lost('db-1', 'db-2'), unready(), rumour(false)]],
    ['a majority listens', [lost('db-2'), withCarrier('db-0', listening), withCarrier('db-1', listening)]],
  ])('do not start as new if %s', (_, changes) => expect(startedAsNew(...changes)).toEqual([]));

  it.each<[string, readonly Change[]]>([
    ['no other has been ready', [lost('db-1', 'db-2'), unready()]],
    ['the list of another has no client URLs', [lost('db-1', 'db-2'), unready(), rumour(true)]],
    ['fewer than a majority listen, and none has served', [lost('db-1', 'db-2'), withCarrier('db-0', listening)]],
  ])('start as new if %s', (_, changes) => expect(startedAsNew(...changes)).toEqual(['db-1', 'db-2']));

  it('are reported as a lost majority if they had no volume', () =>
    expect(planCluster(aWorld(notWrittenDown, outOfContact(), lost('db-1', 'db-2')))).toMatchObject({
      reason: 'QuorumLost',
      message: '2 of 3 members have lost their data, which is a majority: restore a backup',
    }));

  it('restart on their volumes if they have them', () => {
    const gone = { phase: 'gone', ready: false } as const;
    const world = aWorld(notWrittenDown, outOfContact(), durable(), withCarrier('db-1', gone));
    expect(planCluster(world)).toMatchObject({
      steps: [{ kind: 'start-carrier', name: 'db-1', join: { as: 'returner' } }],
    });
  });
});

it('says what keeps a founder from starting', () =>
  expect(planCluster(founding(3))).toMatchObject({ reason: 'MemberStuck', message: 'db-1 cannot start: no node' }));

it('says what to do where fewer are wanted by now than were to found the cluster', () =>
  expect(planCluster(founding(1))).toMatchObject({
    reason: 'MemberStuck',
    message: expect.stringContaining('delete this cluster and declare it again'),
  }));
