import { expect, it } from 'vitest';
import { aWorld, durable, outOfContact, peerURLOf, withCarrier, withMember } from '../../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';

const away = (hasNeverServed: boolean): ClusterWorld =>
  aWorld(
    durable(),
    withMember('db-1', { health: 'silent', hasNeverServed }),
    withCarrier('db-1', { phase: 'gone', ready: false }),
  );

it('a member that has served refuses to start without its data', () => {
  expect(planCluster(away(false))).toMatchObject({ steps: [{ kind: 'start-carrier', join: { as: 'returner' } }] });
});

it('a founder that the others went on without may find nothing on its disk, and joins them', () => {
  const { memory } = aWorld();
  const among = (memory.bootstrap?.members ?? []).map((name) => ({ name, peerURL: peerURLOf(name) }));
  const steps = [{ kind: 'start-carrier', name: 'db-1', join: { as: 'newcomer', among } }];
  expect(planCluster(away(true))).toMatchObject({ steps });
  const { membership } = away(true);
  const rumour = membership.seen ? { membership: { ...outOfContactNow(), rumour: membership.value } } : {};
  expect(planCluster({ ...away(true), ...rumour })).toMatchObject({ steps });
});

const outOfContactNow = (): ClusterWorld['membership'] => outOfContact()(aWorld()).membership;
