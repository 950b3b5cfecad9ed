import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planCluster } from '../../src/core/plan/cluster/plan-cluster.ts';
import { hasQuorum, quorumOf } from '../../src/core/quorum.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

const versions = ['3.2.13', '3.5.35'] as const;

/** One pass of the operator, which may be killed after `survives` of its steps. */
function pass(cluster: SimulatedCluster, survives = Number.POSITIVE_INFINITY): 'settled' | 'wait' | 'act' {
  const verdict = planCluster(cluster.world());
  if (verdict.is !== 'act') return verdict.is;
  const before = hasQuorum(cluster.members()) && cluster.entries.length > 0;
  for (const step of verdict.steps.slice(0, survives)) cluster.perform(step);
  // Growing from one voter to two is the one change that etcd before 3.4 allows in no other way.
  const unavoidable =
    verdict.reason === 'ScalingUp' && cluster.entries.filter(({ role }) => role === 'voter').length === 2;
  if (before && !unavoidable) expect(hasQuorum(cluster.members()), `${verdict.reason}: ${verdict.message}`).toBe(true);
  return 'act';
}

function untilSettled(cluster: SimulatedCluster): void {
  for (let passes = 0; passes < 300; passes++) {
    cluster.settle();
    if (pass(cluster) === 'settled') return;
  }
  throw new Error(
    `does not settle: ${JSON.stringify(planCluster(cluster.world()), (_, v) => (typeof v === 'bigint' ? String(v) : v))}`,
  );
}

const started = (size: number, durable: boolean, version: string): SimulatedCluster => {
  const cluster = new SimulatedCluster({ size, durable, version });
  untilSettled(cluster);
  return cluster;
};

describe('the life of a cluster', () => {
  for (const version of versions) {
    for (const durable of [true, false]) {
      it(`reaches every size from every size, on ${version}, ${durable ? 'with' : 'without'} disks of its own`, () => {
        for (let from = 1; from <= 9; from++) {
          for (let to = 1; to <= 9; to++) {
            const cluster = started(from, durable, version);
            cluster.size = to;
            untilSettled(cluster);
            expect(cluster.isAsWanted(), `${from} to ${to}`).toBe(true);
            expect(cluster.clusters).toBe(1);
          }
        }
      });
    }
  }

  type Event =
    | { readonly is: 'size'; readonly size: number }
    | { readonly is: 'lose-pod'; readonly index: number }
    | { readonly is: 'pass' }
    | { readonly is: 'crash'; readonly after: number };
  const events: fc.Arbitrary<Event> = fc.oneof(
    fc.record({ is: fc.constant('size' as const), size: fc.integer({ min: 1, max: 7 }) }),
    fc.record({ is: fc.constant('lose-pod' as const), index: fc.nat(9) }),
    { arbitrary: fc.record({ is: fc.constant('pass' as const) }), weight: 4 },
    fc.record({ is: fc.constant('crash' as const), after: fc.nat(2) }),
  );

  /** Does what happens; a pod is only lost where the data of a majority stays, as our promise says. */
  function happen(cluster: SimulatedCluster, event: Event): void {
    if (event.is === 'size') cluster.size = event.size;
    if (event.is === 'pass') pass(cluster);
    if (event.is === 'crash') pass(cluster, event.after);
    const voters = cluster.entries.filter(({ role }) => role === 'voter').length;
    const spare = cluster.votersWithData() - quorumOf(voters);
    if (event.is === 'lose-pod' && (spare > 0 || voters === 0)) cluster.deletePod(event.index);
    cluster.settle();
  }

  it('ends as its spec says, whatever happens on the way, as long as a majority keeps its disks', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.constantFrom(...versions),
        fc.array(events, { maxLength: 40 }),
        (durable, version, story) => {
          const cluster = new SimulatedCluster({ size: 3, durable, version });
          for (const event of story) happen(cluster, event);
          untilSettled(cluster);
          expect(cluster.isAsWanted()).toBe(true);
          expect(cluster.clusters).toBe(1);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
