import { expect, it } from 'vitest';
import { aMemberPod, aWorld, type Change, durable, nameOf, withMemberPod } from '../../../../../test/support/worlds.ts';
import type { MemberPod } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';
import { waitForReady } from './wait-for-ready.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const [db0, db1, db2] = [aMemberPod(nameOf('db-0')), aMemberPod(nameOf('db-1')), aMemberPod(nameOf('db-2'))];
const unreadyFor = (seconds: number, memberPod: MemberPod): MemberPod => ({
  ...memberPod,
  ready: false,
  unreadySince: now - seconds * 1000,
});

it('a rollout goes on before the kubelet reports a restarted member as ready, if another pod is ready', () => {
  expect(waitForReady([db0, unreadyFor(2, db1), db2], db2, now)).toBeUndefined();
});

it('a rollout waits for the first pod with the changed template to be ready', () => {
  const changed = { ...unreadyFor(2, db1), image: 'another' };
  expect(waitForReady([db0, changed, db2], db2, now)).toMatchObject({ is: 'wait' });
  expect(waitForReady([{ ...db0, image: 'another' }, changed, db2], db2, now)).toBeUndefined();
});

it('a rollout waits for a pod that has become unready again', () => {
  const fallen = { ...unreadyFor(2, db1), hasFallenUnready: true };
  expect(waitForReady([db0, fallen, db2], db2, now)).toMatchObject({ is: 'wait' });
});

it('a rollout waits for an unready pod if the clock of its node is wrong', () => {
  expect(waitForReady([db0, unreadyFor(-3600, db1), db2], db2, now)).toMatchObject({ is: 'wait' });
});

it('a rollout changes a pod that has been unready for long, because the change may repair it', () => {
  const [one, two] = [unreadyFor(60, db1), unreadyFor(50, db2)];
  expect(waitForReady([db0, one, two], one, now)).toBeUndefined();
  expect(waitForReady([one], one, now)).toBeUndefined();
  expect(waitForReady([db0, one, two], db0, now)).toMatchObject({ is: 'wait' });
});

it('a rollout waits for a pod that does not become ready', () => {
  expect(waitForReady([db0, unreadyFor(11, db1), db2], db2, now)).toMatchObject({
    is: 'wait',
    message: 'waiting for pod db-1 to be ready',
  });
});

it('a pod that stays unready for a minute is reported as stuck', () => {
  expect(waitForReady([db0, unreadyFor(61, db1), db2], db2, now)).toMatchObject({
    is: 'wait',
    reason: 'MemberStuck',
    message: expect.stringContaining('pod db-1 does not become ready although etcd in it is healthy'),
  });
});

it('a rollout changes no third pod while two are unready', () => {
  expect(waitForReady([db0, unreadyFor(4, db1), unreadyFor(2, db2)], db0, now)).toMatchObject({ is: 'wait' });
  const five = [db0, unreadyFor(4, db1), unreadyFor(2, db2), aMemberPod(nameOf('db-3')), aMemberPod(nameOf('db-4'))];
  expect(waitForReady(five, db0, now)).toMatchObject({ is: 'wait' });
});

it('a rollout does not change the only ready pod', () => {
  expect(waitForReady([db0, unreadyFor(2, db1)], db0, now)).toMatchObject({ is: 'wait' });
});

it('a rollout does not change the only member right after its restart', () => {
  const only = unreadyFor(2, db0);
  expect(waitForReady([only], only, now)).toMatchObject({ is: 'wait' });
});

it('a rollout ends when the last pod is ready', () => {
  expect(waitForReady([unreadyFor(2, db0), db1, db2], undefined, now)).toMatchObject({ is: 'wait' });
  expect(waitForReady([db0, db1, db2], undefined, now)).toBeUndefined();
});

const drifted: Change = (world) => ({
  ...world,
  memberPods: world.memberPods.map((each) => ({ ...each, drift: 'pod' })),
});
const unready = (name: string): Change => withMemberPod(name, { ready: false, unreadySince: aWorld().now - 60_000 });

it.each([
  ['unready pods first', ['db-1', 'db-2'], { kind: 'stop-member-pod', name: 'db-1' }],
  [
    'an unready leader before ready followers, after a transfer of leadership',
    ['db-0'],
    { kind: 'transfer-leadership', name: 'db-1' },
  ],
  ['all members, when no pod is ready', ['db-0', 'db-1', 'db-2'], { kind: 'stop-member-pod', name: 'db-1' }],
])('a correction reaches %s', (_, names, step) => {
  const world = aWorld(durable(), drifted, ...names.map(unready));
  expect(planCluster(world)).toMatchObject({ is: 'act', steps: [step] });
});
