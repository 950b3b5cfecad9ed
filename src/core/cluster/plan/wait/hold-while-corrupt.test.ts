import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  durable,
  imageOf,
  nameOf,
  wanting,
  withIntent,
  withMember,
  withMemberPod,
  withoutMemberPod,
} from '../../../../../test/support/worlds.ts';
import { planCluster } from '../plan-cluster.ts';

const corrupt = withMember('db-1', { alarms: ['CORRUPT'] });
const unknown: Change = (w) =>
  w.membership.seen
    ? { ...w, membership: { seen: true, value: { ...w.membership.value, areAlarmsUnknown: true } } }
    : w;
const silent = { health: 'silent', silence: { millis: 3_600_000, observations: 300 } } as const;
const drifted: Change = (w) => ({ ...w, memberPods: w.memberPods.map((each) => ({ ...each, drift: 'pod' })) });
const onlyLeaderIsOutdated = [withMemberPod('db-0', { drift: 'pod' })];
const learner = withMember('db-2', { role: 'learner' });
const orphan: Change = (w) => ({
  ...w,
  memberPods: w.memberPods.map((each) => (each.name === 'db-2' ? { ...each, name: nameOf('db-9') } : each)),
});

/** Each disrupts a member or changes the membership if no alarm is raised. */
const disruptions: Readonly<Record<string, readonly Change[]>> = {
  'a roll of pods on their own volumes': [durable(), drifted],
  'a roll by replacement of members': [drifted],
  'a transfer of leadership before the leader is rolled': [durable(), ...onlyLeaderIsOutdated],
  'an upgrade': [withIntent({ version: '3.5.36' })],
  'an upgrade in progress': [
    withIntent({ version: '3.6.16' }),
    withMember('db-2', { version: '3.6.16' }),
    withMemberPod('db-2', { version: '3.6.16', image: imageOf('3.6.16') }),
  ],
  'a scale down': [wanting(1)],
  'a scale up': [wanting(5)],
  'a promotion of a learner': [learner],
  'a replacement of a dead member': [withoutMemberPod('db-2')],
  'a replacement of a member that has been unreachable for long': [
    durable(),
    withMember('db-2', silent),
    withMemberPod('db-2', { ready: false, unreadyMillis: 3_600_000 }),
  ],
  'a deletion of an orphaned PVC': [durable(), orphan],
  'a correction of a member that cannot start': [
    durable(),
    withMember('db-2', silent),
    withMemberPod('db-2', { phase: 'stuck', ready: false, drift: 'pod' }),
  ],
};

describe('while no member has reported its alarms', () => {
  it.each(Object.entries(disruptions))('%s waits', (_, changes) => {
    expect(planCluster(aWorld(...changes, unknown))).toMatchObject({ is: 'wait', reason: 'AlarmsUnknown' });
  });

  it('a lost pod is restarted on its own PVC with its old version', () => {
    const gone = withMemberPod('db-2', { phase: 'gone', ready: false, version: '3.5.35' });
    const verdict = planCluster(aWorld(durable(), gone, withIntent({ version: '3.5.36' }), unknown));
    expect(verdict).toMatchObject({ is: 'act', steps: [{ name: 'db-2', version: '3.5.35' }] });
  });
});

describe('while the alarm CORRUPT is raised', () => {
  it.each(Object.entries(disruptions))('%s waits', (_, changes) => {
    expect(planCluster(aWorld(...changes))).toMatchObject({ is: 'act' });
    const verdict = planCluster(aWorld(...changes, corrupt));
    expect(verdict).toMatchObject({ is: 'wait', reason: 'AlarmRaised' });
    expect(JSON.stringify(verdict)).toContain('CORRUPT (db-1)');
  });

  it('a roll waits while the alarm of a removed member is raised', () => {
    const left: Change = (w) => ({
      ...w,
      membership: w.membership.seen
        ? { seen: true, value: { ...w.membership.value, leftAlarms: ['CORRUPT'] } }
        : w.membership,
    });
    const verdict = planCluster(aWorld(durable(), drifted, left));
    expect(verdict).toMatchObject({ is: 'wait', message: expect.stringContaining('a member that was removed') });
  });

  it('a lost pod is restarted on its own PVC with the version that it ran', () => {
    const gone = [
      durable(),
      corrupt,
      withMember('db-2', silent),
      withMemberPod('db-2', { phase: 'gone', ready: false }),
    ];
    const verdict = planCluster(aWorld(withIntent({ version: '3.5.36' }), ...gone));
    const step = { kind: 'start-member-pod', join: { as: 'restarting' }, version: '3.5.35' };
    expect(verdict).toMatchObject({ is: 'act', steps: [step] });
  });

  it('re-bootstrap is still forbidden for members that have joined', () => {
    const verdict = planCluster(aWorld(corrupt, withMemberPod('db-2', { bootstrapForbidden: false })));
    expect(verdict).toMatchObject({ is: 'act', steps: [{ kind: 'forbid-rebootstrap', name: 'db-2' }] });
  });
});
