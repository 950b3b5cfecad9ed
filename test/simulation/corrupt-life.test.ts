import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ClusterWorld } from '../../src/core/model/cluster.ts';
import { planCluster } from '../../src/core/plan/cluster/plan-cluster.ts';
import type { Step } from '../../src/core/plan/cluster/step.ts';
import { quorumOf } from '../../src/core/quorum.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

type Happening = (cluster: SimulatedCluster) => void;

const act = (cluster: SimulatedCluster): void => {
  const verdict = planCluster(cluster.world());
  for (const step of verdict.is === 'act' ? verdict.steps : []) cluster.perform(step);
};
const losePod = (cluster: SimulatedCluster, index: number): void => {
  const voters = cluster.entries.filter(({ role }) => role === 'voter').length;
  if (cluster.votersWithData() > quorumOf(voters)) cluster.deletePod(index);
};

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Happening>(act) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 7 }).map(
      (size): Happening =>
        (cluster) =>
          void (cluster.size = size),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(6).map(
      (index): Happening =>
        (cluster) =>
          losePod(cluster, index),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('3.5.34', '3.5.35').map(
      (version): Happening =>
        (cluster) =>
          void (cluster.version = version),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('first', 'second').map(
      (template): Happening =>
        (cluster) =>
          void (cluster.template = template),
    ),
  },
);

/** etcd has found that a member differs from the others. */
function withCorruption(world: ClusterWorld, index: number): ClusterWorld | undefined {
  if (!world.membership.seen || world.memory.clusterId === undefined) return undefined;
  const { members } = world.membership.value;
  const raised = members.map((each, i) => (i === index % members.length ? { ...each, alarms: ['CORRUPT'] } : each));
  return { ...world, membership: { seen: true, value: { ...world.membership.value, members: raised } } };
}

/** Changes neither the membership nor any data, and stops nothing. */
const isHarmless = (step: Step): boolean =>
  step.kind === 'seal-carrier' || (step.kind === 'start-carrier' && step.join.as !== 'founder');

it('whatever is under way when members turn out to differ, no member is disturbed and none is added or removed', () => {
  const lives = fc.tuple(fc.boolean(), fc.nat(8), fc.array(happenings, { minLength: 10, maxLength: 60 }));
  let held = 0;
  fc.assert(
    fc.property(lives, ([durable, index, life]) => {
      const cluster = new SimulatedCluster({ size: 3, durable, version: '3.5.35' });
      for (const happening of life) {
        happening(cluster);
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
