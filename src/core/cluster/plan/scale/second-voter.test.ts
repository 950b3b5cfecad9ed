import { expect, it } from 'vitest';
import { aMember, aMemberPod, aWorld, imageOf, nameOf, wanting } from '../../../../../test/support/worlds.ts';
import type { ClusterWorld, MemberPod } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';

const [version, only, second] = ['3.2.13', nameOf('db-0'), nameOf('db-1')];
const made = { version, image: imageOf(version) };

/** A cluster of one, of a version without learners, that grows; the pod of the second member exists. */
const growing = (change: Partial<MemberPod>): ClusterWorld => ({
  ...aWorld(wanting(3)),
  memberPods: [
    { ...aMemberPod(only), ...made },
    { ...aMemberPod(second), ...made, bootstrapForbidden: false, ready: false, unreadyMillis: 1000, ...change },
  ],
  membership: { seen: true, value: { clusterId: 'c1', members: [{ ...aMember(only, 0), leads: true, version }] } },
});
const again = { steps: [{ kind: 'stop-member-pod', name: second }] };

it('the pod of a second voter is recreated after the spec is corrected', () => {
  const stuck = { phase: 'stuck', why: 'no node', hasRun: false } as const;
  expect(planCluster(growing(stuck))).toMatchObject({ is: 'wait', reason: 'MemberStuck' });
  expect(planCluster(growing({ ...stuck, drift: 'pod' }))).toMatchObject(again);
});

it('a second voter is added while the kubelet restarts it soon; otherwise its pod is recreated first', () => {
  const added = { steps: [{ kind: 'add-member', name: second, as: 'voter' }] };
  expect(planCluster(growing({ phase: 'stuck' }))).toMatchObject(added);
  const forMinutes = { unreadyMillis: 600_000 };
  expect(planCluster(growing({ phase: 'stuck', ...forMinutes }))).toMatchObject(again);
  expect(planCluster(growing({ phase: 'running', ...forMinutes }))).toMatchObject(added);
});
