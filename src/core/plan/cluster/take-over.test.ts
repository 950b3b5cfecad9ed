import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  durable,
  nameOf,
  outOfContact,
  withCarrier,
  withMember,
} from '../../../../test/support/worlds.ts';
import type { Keeper, Memory } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';

const voters = ['db-0', 'db-1', 'db-2'].map(nameOf);
const nothing: Memory = { bootstrap: undefined, clusterId: undefined, voters: [], version: undefined };

const remembering =
  (memory: Partial<Memory>): Change =>
  (w) => ({ ...w, memory: { ...nothing, ...memory } });
const foreign: Change = (w) => ({
  ...w,
  carriers: w.carriers.map((carrier) => ({ ...carrier, isForeign: true, sealed: false })),
});
const kept =
  (change: Partial<Keeper> = {}): Change =>
  (w) => ({ ...w, keepers: voters.map((name) => ({ name, uid: `keeper-of-${name}`, isLeaving: false, ...change })) });
const withoutBodies: Change = (w) => ({ ...w, carriers: [] });
const bare: Change = (w) => ({
  ...w,
  carriers: w.carriers.map((carrier) => ({ ...carrier, phase: 'gone', isForeign: false, version: '' })),
});
const down: Change = (w) => ({ ...w, carriers: w.carriers.map((carrier) => ({ ...carrier, phase: 'ended' })) });

const plan = (...changes: readonly Change[]) => planCluster(aWorld(remembering({}), ...changes));
const stepsOf = (...changes: readonly Change[]): readonly string[] => {
  const verdict = plan(...changes);
  return verdict.is === 'act' ? verdict.steps.map(({ kind }) => kind) : [verdict.is];
};

describe('a cluster that another operator has made', () => {
  it('is freed from what would make its bodies again, before anything else', () => {
    expect(plan(foreign, kept())).toMatchObject({
      is: 'act',
      reason: 'TakingOver',
      steps: voters.map((name) => ({ kind: 'release-carrier', name, uid: `keeper-of-${name}` })),
    });
    expect(plan(foreign, kept({ isLeaving: true }))).toMatchObject({ is: 'wait', reason: 'TakingOver' });
  });

  it('is not touched as long as it is kept from us who would make its bodies again', () => {
    const hidden: Change = (w) => ({ ...w, outOfSight: 'may not look' });
    for (const changes of [[foreign], [bare], [foreign, outOfContact()], [withoutBodies, outOfContact()]])
      expect(plan(...changes, hidden)).toMatchObject({
        is: 'wait',
        reason: 'MissingRights',
        message: 'may not look',
        needsPerson: true,
      });
  });

  it('then has its bodies taken over, as they are', () => {
    expect(plan(foreign)).toMatchObject({
      is: 'act',
      reason: 'TakingOver',
      steps: voters.map((name) => ({ kind: 'adopt-carrier', name, uid: `uid-of-${name}` })),
    });
  });

  it('is remembered only when all of it is ours', () => {
    expect(stepsOf(foreign, withCarrier('db-0', { isForeign: false }))).toEqual(['adopt-carrier', 'adopt-carrier']);
    expect(stepsOf()).toEqual(['remember-formation']);
  });

  it('is taken over with a member that is away, if a majority is there', () => {
    expect(stepsOf(foreign, withMember('db-2', { health: 'silent' }))).toContain('adopt-carrier');
    const alone: Change = (w) => withMember('db-1', { health: 'silent' })(withMember('db-2', { health: 'lost' })(w));
    expect(plan(foreign, alone)).toMatchObject({ is: 'wait', reason: 'NoContact' });
  });

  it.each([
    ['with bodies', [foreign]],
    ['with bodies that others keep', [foreign, kept()]],
    ['whose bodies are being made again', [bare, durable(), kept()]],
    ['with disks, of whose members some run', [foreign, durable(), withCarrier('db-1', { phase: 'ended' })]],
  ])('is not touched while nobody answers, %s', (_, changes) => {
    expect(plan(...changes, outOfContact())).toMatchObject({ is: 'wait', reason: 'NoContact' });
    expect(plan(...changes, outOfContact(), remembering({ voters }))).toMatchObject({
      is: 'wait',
      reason: 'NoContact',
    });
  });

  it('starts again on its disks when nothing of it runs any more', () => {
    const inherited = [foreign, durable(), down, outOfContact(), remembering({ voters, version: '3.2.13' })];
    expect(stepsOf(...inherited)).toEqual(['stop-carrier', 'stop-carrier', 'stop-carrier']);
    expect(plan(...inherited, bare)).toMatchObject({
      is: 'act',
      steps: voters.map((name) => ({ kind: 'start-carrier', name, join: { as: 'returner' }, version: '3.2.13' })),
    });
    expect(stepsOf(...inherited, bare, kept())).toEqual(['wait']);
  });

  it('is never founded anew: without bodies and disks only a person can help', () => {
    expect(plan(withoutBodies, outOfContact(), remembering({ voters }))).toMatchObject({
      is: 'wait',
      reason: 'QuorumLost',
      needsPerson: true,
    });
    expect(stepsOf(withoutBodies, outOfContact())).toEqual(['remember-bootstrap']);
  });
});

it('bodies without marks of ours are left as they are in a cluster that is ours', () => {
  expect(planCluster(aWorld((w) => foreign(w)))).not.toMatchObject({ reason: 'TakingOver' });
});
