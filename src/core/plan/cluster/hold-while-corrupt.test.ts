import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  durable,
  imageOf,
  nameOf,
  wanting,
  withCarrier,
  withIntent,
  withMember,
  withoutCarrier,
} from '../../../../test/support/worlds.ts';
import { planCluster } from './plan-cluster.ts';

const corrupt = withMember('db-1', { alarms: ['CORRUPT'] });
const unknown: Change = (w) =>
  w.membership.seen
    ? { ...w, membership: { seen: true, value: { ...w.membership.value, areAlarmsUnknown: true } } }
    : w;
const silent = { health: 'silent', silence: { millis: 3_600_000, looks: 300 } } as const;
const drifted: Change = (w) => ({ ...w, carriers: w.carriers.map((each) => ({ ...each, drift: 'pod' })) });
const onlyLeaderIsOutdated = [withCarrier('db-0', { drift: 'pod' })];
const learner = withMember('db-2', { role: 'learner' });
const orphan: Change = (w) => ({
  ...w,
  carriers: w.carriers.map((each) => (each.name === 'db-2' ? { ...each, name: nameOf('db-9') } : each)),
});

/** Each would disturb a member, or change the membership, were the alarm not there. */
const disruptions: Readonly<Record<string, readonly Change[]>> = {
  'a roll of pods on their own volumes': [durable(), drifted],
  'a roll by members that take the place of others': [drifted],
  'a leadership move before the leader is rolled': [durable(), ...onlyLeaderIsOutdated],
  'an upgrade': [withIntent({ version: '3.5.36' })],
  'an upgrade that has begun': [
    withIntent({ version: '3.6.16' }),
    withMember('db-2', { version: '3.6.16' }),
    withCarrier('db-2', { version: '3.6.16', image: imageOf('3.6.16') }),
  ],
  'a scale down': [wanting(1)],
  'a scale up': [wanting(5)],
  'a promotion of a learner': [learner],
  'a replacement of a dead member': [withoutCarrier('db-2')],
  'a replacement of a member that was silent for long': [
    durable(),
    withMember('db-2', silent),
    withCarrier('db-2', { ready: false, unreadyMillis: 3_600_000 }),
  ],
  'a removal of a volume that belongs to no member': [durable(), orphan],
  'a correction of a member that cannot start': [
    durable(),
    withMember('db-2', silent),
    withCarrier('db-2', { phase: 'stuck', ready: false, drift: 'pod' }),
  ],
};

describe('while no member has answered which alarms stand', () => {
  it.each(Object.entries(disruptions))('%s waits', (_, changes) => {
    expect(planCluster(aWorld(...changes, unknown))).toMatchObject({ is: 'wait', reason: 'AlarmsUnknown' });
  });

  it('a lost pod comes back on its own volume, with the version that it had', () => {
    const gone = withCarrier('db-2', { phase: 'gone', ready: false, version: '3.5.35' });
    const verdict = planCluster(aWorld(durable(), gone, withIntent({ version: '3.5.36' }), unknown));
    expect(verdict).toMatchObject({ is: 'act', steps: [{ name: 'db-2', version: '3.5.35' }] });
  });
});

describe('while etcd says that members differ in their data', () => {
  it.each(Object.entries(disruptions))('%s waits', (_, changes) => {
    expect(planCluster(aWorld(...changes))).toMatchObject({ is: 'act' });
    const verdict = planCluster(aWorld(...changes, corrupt));
    expect(verdict).toMatchObject({ is: 'wait', reason: 'AlarmRaised' });
    expect(JSON.stringify(verdict)).toContain('CORRUPT (db-1)');
  });

  it('the same waits while the alarm of a removed member stands', () => {
    const left: Change = (w) => ({
      ...w,
      membership: w.membership.seen
        ? { seen: true, value: { ...w.membership.value, leftAlarms: ['CORRUPT'] } }
        : w.membership,
    });
    const verdict = planCluster(aWorld(durable(), drifted, left));
    expect(verdict).toMatchObject({ is: 'wait', message: expect.stringContaining('a member that was removed') });
  });

  it('a lost pod comes back on its own volume, with the version that it ran', () => {
    const gone = [durable(), corrupt, withMember('db-2', silent), withCarrier('db-2', { phase: 'gone', ready: false })];
    const verdict = planCluster(aWorld(withIntent({ version: '3.5.36' }), ...gone));
    const step = { kind: 'start-carrier', join: { as: 'returner' }, version: '3.5.35' };
    expect(verdict).toMatchObject({ is: 'act', steps: [step] });
  });

  it('members that joined are still forbidden to start from an empty volume', () => {
    const verdict = planCluster(aWorld(corrupt, withCarrier('db-2', { sealed: false })));
    expect(verdict).toMatchObject({ is: 'act', steps: [{ kind: 'seal-carrier', name: 'db-2' }] });
  });
});
