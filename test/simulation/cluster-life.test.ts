import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planCluster } from '../../src/core/cluster/plan/plan-cluster.ts';
import type { Verdict } from '../../src/core/cluster/plan/step.ts';
import { hasQuorum, quorumOf } from '../../src/core/quorum.ts';
import type { Reason } from '../../src/core/reasons.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

const versions = ['3.2.13', '3.5.35'] as const;

/**
 * True if a step cannot avoid losing quorum for a moment. etcd before 3.4 has no learners, so scaling from one voter to two
 * does. A cluster of one or two voters does while a member restarts.
 */
function isUnavoidable(reason: Reason, { entries }: SimulatedCluster): boolean {
  const voters = entries.filter(({ role }) => role === 'voter').length;
  return (reason === 'ScalingUp' && voters === 2) || (reason === 'Rolling' && voters <= 2);
}

/** Runs one pass; the operator is killed after `survives` steps. */
function pass(cluster: SimulatedCluster, survives = Number.POSITIVE_INFINITY): 'settled' | 'wait' | 'act' {
  return perform(planCluster(cluster.world()), cluster, survives);
}

/** Runs one pass in which etcd is unreachable. */
const blindPass = (cluster: SimulatedCluster): unknown =>
  perform(planCluster({ ...cluster.world(), membership: { seen: false, why: 'no member answers' } }), cluster);

function perform(verdict: Verdict, cluster: SimulatedCluster, survives?: number): 'settled' | 'wait' | 'act' {
  if (verdict.is !== 'act') return verdict.is;
  const before = hasQuorum(cluster.members()) && cluster.entries.length > 0;
  for (const step of verdict.steps.slice(0, survives)) cluster.perform(step);
  const unavoidable = isUnavoidable(verdict.reason, cluster);
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

/** Thousands of simulations take some seconds, and longer while other tests run. */
describe('a simulated cluster', { timeout: 60_000 }, () => {
  for (const version of versions) {
    for (const durable of [true, false]) {
      it(`scales from every size to every size, on ${version}, ${durable ? 'with' : 'without'} PVCs`, () => {
        for (let from = 1; from <= 9; from++) {
          for (let to = 1; to <= 9; to++) {
            const cluster = started(from, durable, version);
            cluster.size = to;
            untilSettled(cluster);
            expect(cluster.matchesSpec(), `${from} to ${to}`).toBe(true);
            expect(cluster.clusters).toBe(1);
          }
        }
      });
    }
  }

  type Event =
    | { readonly is: 'time'; readonly seconds: number }
    | { readonly is: 'spec'; readonly spec: Partial<Pick<SimulatedCluster, 'size' | 'version' | 'template'>> }
    | { readonly is: 'lose-pod'; readonly index: number }
    | { readonly is: 'pass' }
    | { readonly is: 'blind' }
    | { readonly is: 'crash'; readonly after: number };
  const spec = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
    fc.record({ is: fc.constant('spec' as const), spec: fc.record(fields) });
  const events: fc.Arbitrary<Event> = fc.oneof(
    spec({ size: fc.integer({ min: 1, max: 7 }) }),
    fc.record({ is: fc.constant('lose-pod' as const), index: fc.nat(9) }),
    { arbitrary: fc.record({ is: fc.constant('pass' as const) }), weight: 4 },
    fc.record({ is: fc.constant('blind' as const) }),
    spec({ template: fc.constantFrom('first', 'second') }),
    fc.record({ is: fc.constant('crash' as const), after: fc.nat(2) }),
    fc.record({ is: fc.constant('time' as const), seconds: fc.nat(4_000) }),
  );

  function applyToInputs(cluster: SimulatedCluster, event: Event): void {
    if (event.is === 'spec') Object.assign(cluster, event.spec);
    if (event.is === 'time') cluster.kept.now += event.seconds * 1000;
  }

  /** Applies an event. A pod is lost only if the rest of the voters with data keep quorum. */
  function applyEvent(cluster: SimulatedCluster, event: Event): void {
    applyToInputs(cluster, event);
    if (event.is === 'pass') pass(cluster);
    if (event.is === 'crash') pass(cluster, event.after);
    if (event.is === 'blind') blindPass(cluster);
    const voters = cluster.entries.filter(({ role }) => role === 'voter').length;
    const spare = cluster.votersWithData() - quorumOf(voters);
    if (event.is === 'lose-pod' && (spare > 0 || voters === 0)) cluster.deletePod(event.index);
    cluster.settle();
  }

  it('reaches its spec after random events as long as a quorum keeps its data', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.constantFrom(...versions),
        fc.array(events, { maxLength: 40 }),
        (durable, version, story) => {
          const cluster = new SimulatedCluster({ size: 3, durable, version });
          for (const event of story) applyEvent(cluster, event);
          untilSettled(cluster);
          expect(cluster.matchesSpec()).toBe(true);
          expect(cluster.clusters).toBe(1);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('with ordinal names reaches its spec after random events, although names are reused', () => {
    const lives = fc.tuple(fc.boolean(), fc.constantFrom(...versions), fc.array(events, { maxLength: 40 }));
    fc.assert(
      fc.property(lives, ([durable, version, story]) => {
        const cluster = new SimulatedCluster({ size: 3, durable, version, memberNames: 'ordinal' });
        for (const event of story) applyEvent(cluster, event);
        untilSettled(cluster);
        expect(cluster.matchesSpec()).toBe(true);
        expect(cluster.clusters).toBe(1);
      }),
      { numRuns: 1000 },
    );
  });

  it.each(['random', 'ordinal'] as const)(
    'keeps volumes of removed members for an hour, with %s names',
    (memberNames) => {
      const lives = fc.tuple(fc.constantFrom(...versions), fc.array(events, { maxLength: 40 }));
      fc.assert(
        fc.property(lives, ([version, story]) => {
          const cluster = new SimulatedCluster({ size: 3, durable: true, version, memberNames });
          for (const event of story) applyEvent(cluster, event);
          cluster.size = 3;
          untilSettled(cluster);
          const kept = cluster.kept.members;
          cluster.size = 1;
          untilSettled(cluster);
          expect(cluster.kept.members.length).toBeGreaterThan(kept.length);
          cluster.kept.now += 3_599_000;
          untilSettled(cluster);
          expect(cluster.kept.members.length).toBeGreaterThan(kept.length);
          cluster.kept.now += 1_000;
          untilSettled(cluster);
          expect(cluster.kept.members).toEqual([]);
          expect(cluster.matchesSpec()).toBe(true);
        }),
        { numRuns: 300 },
      );
    },
  );

  it('created again resumes from its retained PVCs as long as a quorum of them exists', () => {
    const again = fc.record({ size: fc.integer({ min: 1, max: 7 }), lost: fc.nat(6), story: fc.array(events) });
    fc.assert(
      fc.property(fc.constantFrom(...versions), fc.array(again, { maxLength: 4 }), (version, lives) => {
        const cluster = new SimulatedCluster({ size: 3, durable: true, version, memberNames: 'ordinal' });
        untilSettled(cluster);
        for (const { size, lost, story } of lives) {
          const spare = cluster.entries.length - quorumOf(cluster.entries.length);
          const names = cluster.entries.map(({ name }) => name).slice(0, Math.min(lost, spare));
          cluster.recreate(size, names);
          for (const event of story) applyEvent(cluster, event);
          untilSettled(cluster);
          expect(cluster.matchesSpec()).toBe(true);
          expect(cluster.clusters).toBe(1);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('resumes from PVCs of another operator if a quorum of them exists; otherwise it waits and keeps them', () => {
    const sizes = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }), fc.constantFrom(1, 3, 5));
    fc.assert(
      fc.property(fc.constantFrom(...versions), sizes, (version, [from, left, size]) => {
        const cluster = new SimulatedCluster({ size: from, durable: true, version, memberNames: 'ordinal' });
        untilSettled(cluster);
        const names = cluster.entries.map(({ name }) => name);
        cluster.recreate(size, names.slice(left), 'another');
        const kept = [...cluster.volumes.keys()];
        const isEnough = kept.length >= quorumOf(from);
        for (let passes = 0; passes < 100; passes++) applyEvent(cluster, { is: 'pass' });
        expect(cluster.matchesSpec()).toBe(isEnough);
        expect(cluster.clusters).toBe(1);
        expect([...cluster.volumes.keys()]).toEqual(isEnough ? expect.anything() : kept);
      }),
      { numRuns: 100 },
    );
  });

  it.each(versions)('with ordinal names uses the lowest ordinals after scaling, on %s', (version) => {
    const cluster = new SimulatedCluster({ size: 5, durable: true, version, memberNames: 'ordinal' });
    for (const size of [5, 2, 7, 1, 3]) {
      cluster.size = size;
      untilSettled(cluster);
      const names = cluster.entries.map(({ name }) => name).toSorted();
      expect(names).toEqual(Array.from({ length: size }, (_, ordinal) => `db-${ordinal}`));
    }
  });

  /** Versions of one minor: upgrades and downgrades between them are possible at any time. */
  const upgrades = spec({ version: fc.constantFrom('3.5.33', '3.5.34', '3.5.35') });

  it('reaches its spec after random events and version changes as long as a quorum keeps its data', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(fc.oneof(events, upgrades), { maxLength: 40 }), (durable, story) => {
        const cluster = new SimulatedCluster({ size: 3, durable, version: '3.5.35' });
        for (const event of story) applyEvent(cluster, event);
        untilSettled(cluster);
        expect(cluster.matchesSpec()).toBe(true);
        expect(cluster.clusters).toBe(1);
      }),
      { numRuns: 1000 },
    );
  });
});
