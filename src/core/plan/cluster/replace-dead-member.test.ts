import { expect, it } from 'vitest';
import { aWorld, durable, withCarrier, withMember } from '../../../../test/support/worlds.ts';
import type { Carrier, ClusterWorld, Member } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';

const minutes = (count: number): number => count * 60_000;
const anHour = { millis: minutes(60), looks: 300 };
const unready = { phase: 'running', ready: false, unreadyMillis: minutes(60) } as const;

/** One of three has been away for an hour; the others have been ready for so long. */
const awayBeside = (readyMillis: number): ClusterWorld =>
  aWorld(
    durable(),
    withMember('db-2', { health: 'silent', leads: false, silence: anHour }),
    withCarrier('db-2', { ...unready, phase: 'stopping', stoppingMillis: minutes(56), graceMillis: minutes(1) }),
    ...['db-0', 'db-1'].map((name) => withCarrier(name, { readyMillis })),
  );

it('replaces one that has been away for long', () =>
  expect(planCluster(awayBeside(minutes(90)))).toMatchObject({ steps: [{ kind: 'remove-member', name: 'db-2' }] }));

it('keeps the disk of one whose others were away as well, and have only just come back', () =>
  expect(planCluster(awayBeside(10_000))).toMatchObject({ is: 'wait', reason: 'MemberReturning' }));

it('does not wait for it for ever', () =>
  expect(planCluster(awayBeside(minutes(2)))).toMatchObject({ steps: [{ kind: 'remove-member', name: 'db-2' }] }));

it('does not take one that is never ready for one that is just back', () => {
  const world = awayBeside(minutes(90));
  const carriers = world.carriers.map((each) => (each.name === 'db-1' ? { ...each, ready: false } : each));
  expect(planCluster({ ...world, carriers })).toMatchObject({ steps: [{ kind: 'remove-member', name: 'db-2' }] });
});

const silent = (member: Partial<Member>, carrier: Partial<Carrier>): ClusterWorld =>
  aWorld(
    durable(),
    withMember('db-2', { health: 'silent', leads: false, ...member }),
    withCarrier('db-2', { ...unready, ...carrier }),
  );
const isRemoved = (world: ClusterWorld): boolean => {
  const verdict = planCluster(world);
  return verdict.is === 'act' && verdict.steps.some(({ kind }) => kind === 'remove-member');
};

it('a member is replaced after it was silent and its pod unready in every pass for the whole time', () =>
  expect(isRemoved(silent({ silence: anHour }, {}))).toBe(true));

it.each<[string, Partial<Member>, Partial<Carrier>]>([
  ['missed one answer, whatever its pod has been', { silence: { millis: 0, looks: 1 } }, {}],
  ['was silent in a few passes far apart', { silence: { millis: minutes(60), looks: 4 } }, {}],
  ['was silent for less than the time', { silence: { millis: minutes(4), looks: 300 } }, {}],
  ['is silent while its pod has been unready for a moment', { silence: anHour }, { unreadyMillis: 1_000 }],
  ['is silent while its pod is ready', { silence: anHour }, { ready: true, unreadyMillis: undefined }],
  ['was down for long by the clock of its node only', {}, { unreadyMillis: 0, unreadySince: 0 }],
])('a member is not replaced that %s', (_, member, carrier) => expect(isRemoved(silent(member, carrier))).toBe(false));
