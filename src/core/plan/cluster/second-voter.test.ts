import { expect, it } from 'vitest';
import { aCarrier, aMember, aWorld, imageOf, nameOf, wanting } from '../../../../test/support/worlds.ts';
import type { Carrier, ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';

const [version, only, second] = ['3.2.13', nameOf('db-0'), nameOf('db-1')];
const made = { version, image: imageOf(version) };

/** A cluster of one, of a version without learners, that is to grow; the body of the second is there already. */
const growing = (body: Partial<Carrier>): ClusterWorld => ({
  ...aWorld(wanting(3)),
  carriers: [
    { ...aCarrier(only), ...made },
    { ...aCarrier(second), ...made, sealed: false, ready: false, unreadyMillis: 1000, ...body },
  ],
  membership: { seen: true, value: { clusterId: 'c1', members: [{ ...aMember(only, 0), leads: true, version }] } },
});
const again = { steps: [{ kind: 'stop-carrier', name: second }] };

it('is made again when what kept it from starting is corrected', () => {
  const stuck = { phase: 'stuck', why: 'no node', hasRun: false } as const;
  expect(planCluster(growing(stuck))).toMatchObject({ is: 'wait', reason: 'MemberStuck' });
  expect(planCluster(growing({ ...stuck, drift: 'pod' }))).toMatchObject(again);
});

it('is added while the kubelet starts it again soon, and otherwise made again first', () => {
  const added = { steps: [{ kind: 'add-member', name: second, as: 'voter' }] };
  expect(planCluster(growing({ phase: 'stuck' }))).toMatchObject(added);
  const forMinutes = { unreadyMillis: 600_000 };
  expect(planCluster(growing({ phase: 'stuck', ...forMinutes }))).toMatchObject(again);
  expect(planCluster(growing({ phase: 'running', ...forMinutes }))).toMatchObject(added);
});
