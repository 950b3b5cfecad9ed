import { describe, expect, it } from 'vitest';
import { aKnownWorld, aWorld, durable, withMember, withMemberPod } from '../../../../../test/support/worlds.ts';
import type { ClusterWorld, Member, MemberPod } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';
import { removeDeadMember } from './replace-dead-member.ts';

const minutes = (count: number): number => count * 60_000;
const anHour = { millis: minutes(60), observations: 300 };
const unready = { phase: 'running', ready: false, unreadyMillis: minutes(60) } as const;

/** One of three members has been unreachable for an hour; the others have been ready for `readyMillis`. */
const unreachableBeside = (readyMillis: number): ClusterWorld =>
  aWorld(
    durable(),
    withMember('db-2', { health: 'silent', leads: false, silence: anHour }),
    withMemberPod('db-2', { ...unready, phase: 'stopping', stoppingMillis: minutes(56), graceMillis: minutes(1) }),
    ...['db-0', 'db-1'].map((name) => withMemberPod(name, { readyMillis })),
  );

it('a member that has been unreachable for long is replaced', () =>
  expect(planCluster(unreachableBeside(minutes(90)))).toMatchObject({
    steps: [{ kind: 'remove-member', name: 'db-2' }],
  }));

it('a member keeps its PVC if the other members have only just recovered from the same outage', () =>
  expect(planCluster(unreachableBeside(10_000))).toMatchObject({ is: 'wait', reason: 'MemberReturning' }));

it('a member is replaced if it does not recover soon after the others', () =>
  expect(planCluster(unreachableBeside(minutes(2)))).toMatchObject({
    steps: [{ kind: 'remove-member', name: 'db-2' }],
  }));

it('a pod that was never ready does not count as just recovered', () => {
  const world = unreachableBeside(minutes(90));
  const memberPods = world.memberPods.map((each) => (each.name === 'db-1' ? { ...each, ready: false } : each));
  expect(planCluster({ ...world, memberPods })).toMatchObject({ steps: [{ kind: 'remove-member', name: 'db-2' }] });
});

const silent = (member: Partial<Member>, memberPod: Partial<MemberPod>): ClusterWorld =>
  aWorld(
    durable(),
    withMember('db-2', { health: 'silent', leads: false, ...member }),
    withMemberPod('db-2', { ...unready, ...memberPod }),
  );
const isRemoved = (world: ClusterWorld): boolean => {
  const verdict = planCluster(world);
  return verdict.is === 'act' && verdict.steps.some(({ kind }) => kind === 'remove-member');
};

it('a member is replaced after it was silent and its pod unready in every pass for the whole time', () =>
  expect(isRemoved(silent({ silence: anHour }, {}))).toBe(true));

it.each<[string, Partial<Member>, Partial<MemberPod>]>([
  ['missed one answer, whatever the state of its pod', { silence: { millis: 0, observations: 1 } }, {}],
  ['was silent in a few passes far apart', { silence: { millis: minutes(60), observations: 4 } }, {}],
  ['was silent for less than the time', { silence: { millis: minutes(4), observations: 300 } }, {}],
  ['is silent while its pod has been unready for a moment', { silence: anHour }, { unreadyMillis: 1_000 }],
  ['is silent while its pod is ready', { silence: anHour }, { ready: true, unreadyMillis: undefined }],
  ['was down for long by the clock of its node only', {}, { unreadyMillis: 0, unreadySince: 0 }],
])('a member is not replaced that %s', (_, member, memberPod) =>
  expect(isRemoved(silent(member, memberPod))).toBe(false),
);

it('a member without a PVC is replaced only after its pod has ended', () => {
  const silentFor = { silence: { millis: 1_000, observations: 5 } };
  const withPod = (phase: MemberPod['phase']) => silent(silentFor, { volume: 'with-pod', phase, unreadyMillis: 1_000 });
  expect(isRemoved(withPod('running'))).toBe(false);
  expect(isRemoved(withPod('ended'))).toBe(true);
});

it('a dead member is not removed if the rest would lose quorum', () => {
  const { members } = aKnownWorld(...['db-1', 'db-2'].map((name) => withMember(name, { health: 'silent' }))).membership
    .value;
  const [, , dead] = members;
  if (dead === undefined) throw new Error('no third member');
  expect(removeDeadMember(dead, members)).toBeUndefined();
  expect(removeDeadMember(dead, aKnownWorld().membership.value.members)).toMatchObject({ is: 'act' });
});

describe('a member with a version that no healthy member runs', () => {
  const crashing = (why: string): ClusterWorld =>
    silent(
      { silence: anHour },
      { phase: 'stuck', why, bootstrapForbidden: true, image: 'etcd:v3.7.3', version: '3.7.3' },
    );

  it('is kept while its version may be the cause', () => expect(isRemoved(crashing('exited with 1'))).toBe(false));

  it('is replaced if its volume is empty', () =>
    expect(isRemoved(crashing('ended with 1 couldn\'t find local name "db-2" in the initial cluster'))).toBe(true));
});
