import { expect, it } from 'vitest';
import {
  aMember,
  aMemberPod,
  aWorld,
  imageOf,
  nameOf,
  withIntent,
  withMember,
} from '../../../../../test/support/worlds.ts';
import type { ClusterWorld, MemberPod } from '../../model/cluster.ts';
import { planCluster } from '../plan-cluster.ts';

const [first, second] = [nameOf('db-0'), nameOf('db-1')];

/** The second of two voters, of a version without learners, has never started, so there is no quorum. */
const waitingForSecond = (...podsAndPvcs: readonly Partial<MemberPod>[]): ClusterWorld => ({
  ...aWorld(withIntent({ size: 3, version: '3.5.35' })),
  memory: { bootstrap: undefined, clusterId: 'c1', voters: [first], version: '3.3.12' },
  memberPods: [
    { ...aMemberPod(first), version: '3.3.12', image: imageOf('3.3.12') },
    ...podsAndPvcs.map((change) => ({ ...aMemberPod(second), bootstrapForbidden: false, ready: false, ...change })),
  ],
  membership: {
    ...{ seen: false, why: 'no leader' },
    unconfirmed: {
      clusterId: 'c1',
      members: [
        { ...aMember(first, 0), health: 'lost', leads: false, version: '3.3.12' },
        { ...aMember(second, 1), health: 'never-started', leads: false, version: undefined },
      ],
    },
  },
});

it('a joining member starts with the version of the others, even if the spec names a later minor', () => {
  const start = { kind: 'start-member-pod', name: second, version: '3.3.12' };
  expect(planCluster(waitingForSecond())).toMatchObject({ steps: [start] });
});

it('the pod of a joining member is not recreated for a version with which it cannot join', () => {
  const running = { version: '3.3.12', image: imageOf('3.3.12') };
  expect(planCluster(waitingForSecond(running))).toMatchObject({ is: 'wait', reason: 'MemberStarting' });
});

it('the step for a joining member names the members that it replaces', () => {
  const third = nameOf('db-2');
  const world = aWorld(withMember(third, { role: 'learner', health: 'never-started', leads: false }));
  const startBeside = (leaving: Partial<MemberPod>) =>
    planCluster({ ...world, memberPods: [{ ...aMemberPod(first), ...leaving }, aMemberPod(second)] });
  const start = { kind: 'start-member-pod', name: third };
  expect(startBeside({ drift: 'pod', volume: 'with-pod' })).toMatchObject({ steps: [{ ...start, leaving: [first] }] });
  const { steps } = startBeside({ drift: 'pod', volume: 'own' }) as { readonly steps: readonly object[] };
  expect(steps).toEqual([expect.not.objectContaining({ leaving: expect.anything() })]);
});

it('the pod of a joining member for which re-bootstrap is forbidden is recreated: it can never join', () => {
  const running = { version: '3.3.12', image: imageOf('3.3.12'), bootstrapForbidden: true };
  expect(planCluster(waitingForSecond(running))).toMatchObject({ steps: [{ kind: 'stop-member-pod', name: second }] });
});
