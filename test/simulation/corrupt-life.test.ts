import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ClusterWorld } from '../../src/core/cluster/model/cluster.ts';
import { planCluster } from '../../src/core/cluster/plan/plan-cluster.ts';
import type { MemberStep } from '../../src/core/cluster/plan/step.ts';
import { quorumOf } from '../../src/core/quorum.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

type Event = (cluster: SimulatedCluster) => void;

const act = (cluster: SimulatedCluster): void => {
  const verdict = planCluster(cluster.world());
  for (const step of verdict.is === 'act' ? verdict.steps : []) cluster.perform(step);
};
const losePod = (cluster: SimulatedCluster, index: number): void => {
  const voters = cluster.entries.filter(({ role }) => role === 'voter').length;
  if (cluster.votersWithData() > quorumOf(voters)) cluster.deletePod(index);
};

const events: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Event>(act) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 7 }).map(
      (size): Event =>
        (cluster) =>
          void (cluster.size = size),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(6).map(
      (index): Event =>
        (cluster) =>
          losePod(cluster, index),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('3.5.34', '3.5.35').map(
      (version): Event =>
        (cluster) =>
          void (cluster.version = version),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('first', 'second').map(
      (template): Event =>
        (cluster) =>
          void (cluster.template = template),
    ),
  },
);

/** Adds a CORRUPT alarm to one member. */
function withCorruption(world: ClusterWorld, index: number): ClusterWorld | undefined {
  if (!world.membership.seen || world.memory.clusterId === undefined) return undefined;
  const { members } = world.membership.value;
  const raised = members.map((each, i) => (i === index % members.length ? { ...each, alarms: ['CORRUPT'] } : each));
  return { ...world, membership: { seen: true, value: { ...world.membership.value, members: raised } } };
}

/** True if a step changes no membership and no data, and stops no pod. */
const isHarmless = (step: MemberStep): boolean =>
  step.kind === 'forbid-rebootstrap' || (step.kind === 'start-member-pod' && step.join.as !== 'bootstrap');

it('with a CORRUPT alarm no member is stopped, added or removed, whatever is in progress', () => {
  const lives = fc.tuple(fc.boolean(), fc.nat(8), fc.array(events, { minLength: 10, maxLength: 60 }));
  let held = 0;
  fc.assert(
    fc.property(lives, ([durable, index, life]) => {
      const cluster = new SimulatedCluster({ size: 3, durable, version: '3.5.35' });
      for (const event of life) {
        event(cluster);
        cluster.settle();
        const world = withCorruption(cluster.world(), index);
        if (world === undefined) continue;
        const [now, otherwise] = [planCluster(world), planCluster(cluster.world())];
        const steps = now.is === 'act' ? now.steps : [];
        expect(steps.filter((step) => !isHarmless(step))).toEqual([]);
        if (otherwise.is === 'act' && now.is === 'wait') held++;
      }
    }),
    { numRuns: 300 },
  );
  expect(held).toBeGreaterThan(100);
});
