import { expect, it } from 'vitest';
import {
  aWorld,
  durable,
  outOfContact,
  peerURLOf,
  withMember,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';

const withoutPod = (hasNeverServed: boolean): ClusterWorld =>
  aWorld(
    durable(),
    withMember('db-1', { health: 'silent', hasNeverServed }),
    withMemberPod('db-1', { phase: 'gone', ready: false }),
  );

it('a member that has served refuses to start without its data', () => {
  expect(planCluster(withoutPod(false))).toMatchObject({
    steps: [{ kind: 'start-member-pod', join: { as: 'restarting' } }],
  });
});

it('a bootstrap member that has never served joins the cluster that formed without it', () => {
  const { memory } = aWorld();
  const among = (memory.bootstrap?.members ?? []).map((name) => ({ name, peerURL: peerURLOf(name) }));
  const steps = [{ kind: 'start-member-pod', name: 'db-1', join: { as: 'joining', among } }];
  expect(planCluster(withoutPod(true))).toMatchObject({ steps });
  const { membership } = withoutPod(true);
  const unconfirmed = membership.seen ? { membership: { ...outOfContactNow(), unconfirmed: membership.value } } : {};
  expect(planCluster({ ...withoutPod(true), ...unconfirmed })).toMatchObject({ steps });
});

const outOfContactNow = (): ClusterWorld['membership'] => outOfContact()(aWorld()).membership;
