import { describe, expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  nameOf,
  wanting,
  withIntent,
  withMember,
  withMemberPod,
} from '../../../../../test/support/worlds.ts';
import { memberPodNamed } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';
import { leaveClientService, needsClientEndpoints } from './leave-client-service.ts';

const serving: Change = (world) => ({
  ...world,
  memberPods: world.memberPods.map((memberPod) => ({ ...memberPod, serves: true })),
});
const withdrawn = (millis = 0): Change => withMemberPod('db-1', { serves: false, withdrawnMillis: millis });
const leadsTo =
  (...names: readonly string[]): Change =>
  (world) => ({ ...world, clientEndpoints: world.memberPods.map(({ name }) => name).filter((n) => names.includes(n)) });
const upgrade = withIntent({ version: '3.5.36' });
const plan = (...changes: readonly Change[]): ReturnType<typeof planCluster> =>
  planCluster(aWorld(serving, upgrade, ...changes));

describe('a member that is about to stop for a change', () => {
  const leaving = { is: 'wait', reason: 'Rolling', withdraws: 'db-1' };

  it('leaves the client Service first', () => {
    const verdict = plan();
    expect(verdict).toMatchObject(leaving);
    expect(needsClientEndpoints(verdict, aWorld(serving))).toBe(false);
  });

  it('is not stopped while the EndpointSlices are not observed, or lead to it', () => {
    const unobserved = plan(withdrawn());
    expect(unobserved).toMatchObject(leaving);
    expect(needsClientEndpoints(unobserved, aWorld(serving, withdrawn()))).toBe(true);
    expect(plan(withdrawn(), leadsTo('db-0', 'db-1'))).toMatchObject(leaving);
  });

  it.each<[string, readonly Change[]]>([
    ['the EndpointSlices no longer lead to it', [withdrawn(), leadsTo('db-0', 'db-2')]],
    ['the EndpointSlices may not be listed', [withdrawn(), (world) => ({ ...world, clientEndpoints: 'unknown' })]],
    ['an EndpointSlice has been stale for ten seconds', [withdrawn(10_001), leadsTo('db-1')]],
  ])('is changed once %s', (_, changes) =>
    expect(plan(...changes)).toMatchObject({ steps: [{ kind: 'change-image', name: 'db-1' }] }),
  );

  it('is changed at once if no other ready member is in the Service, or if it is unready itself', () => {
    const others = [withMemberPod('db-0', { serves: false }), withMemberPod('db-2', { ready: false, unreadySince: 0 })];
    expect(plan(...others, withIntent({ version: '3.5.35' }), withIntent({ size: 3 }))).not.toMatchObject(leaving);
    expect(planCluster(aWorld(serving, upgrade, withMemberPod('db-1', { ready: false })))).toMatchObject({
      steps: [{ kind: 'change-image', name: 'db-1' }],
    });
  });

  it('gives up leadership before it leaves the Service', () => {
    const leads = [withMember('db-0', { leads: false }), withMember('db-1', { leads: true })];
    const updated = ['db-0', 'db-2'].flatMap((name) => [
      withMember(name, { version: '3.5.36' }),
      withMemberPod(name, { version: '3.5.36', image: 'etcd:v3.5.36' }),
    ]);
    expect(plan(...leads, ...updated)).toMatchObject({ steps: [{ kind: 'transfer-leadership' }] });
  });
});

it('a surplus member leaves the client Service before etcd removes it', () => {
  const shrinking = [serving, wanting(2)];
  const verdict = planCluster(aWorld(...shrinking));
  expect(verdict).toMatchObject({ is: 'wait', reason: 'ScalingDown', withdraws: 'db-1' });
  expect(planCluster(aWorld(...shrinking, withdrawn(), leadsTo('db-0')))).toMatchObject({
    steps: [{ kind: 'remove-member', name: 'db-1', because: 'surplus' }],
  });
});

it('an unhealthy surplus member is removed at once', () => {
  const silent = withMember('db-2', { health: 'silent' });
  expect(planCluster(aWorld(serving, wanting(2), silent, withMemberPod('db-2', { ready: false })))).toMatchObject({
    steps: [{ kind: 'remove-member', name: 'db-2' }],
  });
});

it('the only ready member in the client Service stays in it', () => {
  const leavingIn = (...changes: readonly Change[]) => {
    const world = aWorld(serving, ...changes);
    const memberPod = memberPodNamed(world, nameOf('db-1'));
    if (memberPod === undefined) throw new Error('no pod');
    return leaveClientService(memberPod, world, 'Rolling');
  };
  const others = [withMemberPod('db-0', { serves: false }), withMemberPod('db-2', { ready: false })];
  expect(leavingIn(...others)).toBeUndefined();
  expect(leavingIn(...others.slice(1))).toMatchObject({ is: 'wait', withdraws: 'db-1' });
});
