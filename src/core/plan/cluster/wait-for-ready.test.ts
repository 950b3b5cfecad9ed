import { expect, it } from 'vitest';
import { aCarrier, aWorld, type Change, durable, nameOf, withCarrier } from '../../../../test/support/worlds.ts';
import type { Carrier } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';
import { waitForReady } from './wait-for-ready.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const [db0, db1, db2] = [aCarrier(nameOf('db-0')), aCarrier(nameOf('db-1')), aCarrier(nameOf('db-2'))];
const unreadyFor = (seconds: number, carrier: Carrier): Carrier => ({
  ...carrier,
  ready: false,
  unreadySince: now - seconds * 1000,
});

it('does not wait for the kubelet to say of one what etcd says already, while clients have another', () => {
  expect(waitForReady([db0, unreadyFor(2, db1), db2], db2, now)).toBeUndefined();
});

it('waits for the first of its kind, which may be unready for what was changed', () => {
  const changed = { ...unreadyFor(2, db1), image: 'another' };
  expect(waitForReady([db0, changed, db2], db2, now)).toMatchObject({ is: 'wait' });
  expect(waitForReady([{ ...db0, image: 'another' }, changed, db2], db2, now)).toBeUndefined();
});

it('waits for one that was ready and is no more, whatever etcd says of it', () => {
  const fallen = { ...unreadyFor(2, db1), hasFallenUnready: true };
  expect(waitForReady([db0, fallen, db2], db2, now)).toMatchObject({ is: 'wait' });
});

it('waits where the clock of a node is wrong', () => {
  expect(waitForReady([db0, unreadyFor(-3600, db1), db2], db2, now)).toMatchObject({ is: 'wait' });
});

it('goes on with one that has not been ready for long, as this may be what helps it', () => {
  const [one, two] = [unreadyFor(60, db1), unreadyFor(50, db2)];
  expect(waitForReady([db0, one, two], one, now)).toBeUndefined();
  expect(waitForReady([one], one, now)).toBeUndefined();
  expect(waitForReady([db0, one, two], db0, now)).toMatchObject({ is: 'wait' });
});

it('waits for one whose pod does not become ready', () => {
  expect(waitForReady([db0, unreadyFor(11, db1), db2], db2, now)).toMatchObject({
    is: 'wait',
    message: 'waiting for the pod of db-1 to be ready',
  });
});

it('calls for somebody when it takes too long', () => {
  expect(waitForReady([db0, unreadyFor(61, db1), db2], db2, now)).toMatchObject({
    is: 'wait',
    reason: 'MemberStuck',
    message: expect.stringContaining('etcd serves in the pod of db-1, which does not become ready'),
  });
});

it('takes no third one while two are not ready', () => {
  expect(waitForReady([db0, unreadyFor(4, db1), unreadyFor(2, db2)], db0, now)).toMatchObject({ is: 'wait' });
  const five = [db0, unreadyFor(4, db1), unreadyFor(2, db2), aCarrier(nameOf('db-3')), aCarrier(nameOf('db-4'))];
  expect(waitForReady(five, db0, now)).toMatchObject({ is: 'wait' });
});

it('leaves clients the only one that is ready', () => {
  expect(waitForReady([db0, unreadyFor(2, db1)], db0, now)).toMatchObject({ is: 'wait' });
});

it('does not change the only member while it is not ready', () => {
  const only = unreadyFor(2, db0);
  expect(waitForReady([only], only, now)).toMatchObject({ is: 'wait' });
});

it('has not ended before the last one is ready', () => {
  expect(waitForReady([unreadyFor(2, db0), db1, db2], undefined, now)).toMatchObject({ is: 'wait' });
  expect(waitForReady([db0, db1, db2], undefined, now)).toBeUndefined();
});

const drifted: Change = (world) => ({ ...world, carriers: world.carriers.map((each) => ({ ...each, drift: 'pod' })) });
const unready = (name: string): Change => withCarrier(name, { ready: false, unreadySince: aWorld().now - 60_000 });

it.each([
  ['those whom a change has left unready, first of all', ['db-1', 'db-2'], { kind: 'stop-carrier', name: 'db-1' }],
  ['a leader that is not ready, before it goes on with others', ['db-0'], { kind: 'move-leader', name: 'db-1' }],
  ['everybody, when nobody is ready', ['db-0', 'db-1', 'db-2'], { kind: 'stop-carrier', name: 'db-1' }],
])('a correction reaches %s', (_, names, step) => {
  const world = aWorld(durable(), drifted, ...names.map(unready));
  expect(planCluster(world)).toMatchObject({ is: 'act', steps: [step] });
});
