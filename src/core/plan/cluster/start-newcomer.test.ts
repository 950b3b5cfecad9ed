import { expect, it } from 'vitest';
import { aCarrier, aMember, aWorld, imageOf, nameOf, withIntent, withMember } from '../../../../test/support/worlds.ts';
import type { Carrier, ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';

const [first, second] = [nameOf('db-0'), nameOf('db-1')];

/** The second of two voters of a version without learners has never started, and so there is no majority. */
const waitingForSecond = (...bodies: readonly Partial<Carrier>[]): ClusterWorld => ({
  ...aWorld(withIntent({ size: 3, version: '3.5.35' })),
  memory: { bootstrap: undefined, clusterId: 'c1', voters: [first], version: '3.3.12' },
  carriers: [
    { ...aCarrier(first), version: '3.3.12', image: imageOf('3.3.12') },
    ...bodies.map((body) => ({ ...aCarrier(second), sealed: false, ready: false, ...body })),
  ],
  membership: {
    ...{ seen: false, why: 'no leader' },
    rumour: {
      clusterId: 'c1',
      members: [
        { ...aMember(first, 0), health: 'lost', leads: false, version: '3.3.12' },
        { ...aMember(second, 1), health: 'never-started', leads: false, version: undefined },
      ],
    },
  },
});

it('starts with what the others run, although the spec names a later minor by now', () => {
  const start = { kind: 'start-carrier', name: second, version: '3.3.12' };
  expect(planCluster(waitingForSecond())).toMatchObject({ steps: [start] });
});

it('is not made again for a version that it cannot join with', () => {
  const body = { version: '3.3.12', image: imageOf('3.3.12') };
  expect(planCluster(waitingForSecond(body))).toMatchObject({ is: 'wait', reason: 'MemberStarting' });
});

it('may have the node of a member that leaves for it, and its step names the members that leave', () => {
  const third = nameOf('db-2');
  const world = aWorld(withMember(third, { role: 'learner', health: 'never-started', leads: false }));
  const startBeside = (leaving: Partial<Carrier>) =>
    planCluster({ ...world, carriers: [{ ...aCarrier(first), ...leaving }, aCarrier(second)] });
  const start = { kind: 'start-carrier', name: third };
  expect(startBeside({ drift: 'pod', disk: 'with-pod' })).toMatchObject({ steps: [{ ...start, leaving: [first] }] });
  const { steps } = startBeside({ drift: 'pod', disk: 'own' }) as { readonly steps: readonly object[] };
  expect(steps).toEqual([expect.not.objectContaining({ leaving: expect.anything() })]);
});
