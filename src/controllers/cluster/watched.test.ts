import { expect, it } from 'vitest';
import { aWorld, type Change, durable, outOfContact, withCarrier, withMember } from '../../../test/support/worlds.ts';
import { planCluster } from '../../core/plan/cluster/plan-cluster.ts';
import { Watched } from './watched.ts';

const silent = [withMember('db-2', { health: 'silent', leads: false }), withCarrier('db-2', { ready: false })];
const skewed: Change = (world) => ({ ...world, now: world.now + 600_000 });

/** Whether a member is removed after passes that are so many seconds apart, of which each sees one of these. */
function removedAfter(seconds: number, ...passes: readonly (readonly Change[])[]): boolean {
  let now = 0;
  const watched = new Watched({ monotonic: () => now });
  const verdicts = passes.map((changes) => {
    now += seconds * 1000;
    const world = aWorld(durable(), skewed, ...changes);
    return planCluster({ ...world, ...watched.see('default/db', world) });
  });
  const last = verdicts.at(-1);
  return last?.is === 'act' && last.steps.some(({ kind }) => kind === 'remove-member');
}

const times = <T>(count: number, what: T): readonly T[] => Array.from({ length: count }, () => what);

it('a member that was silent in every pass for longer than five minutes is removed', () => {
  expect(removedAfter(10, ...times(32, silent))).toBe(true);
  expect(removedAfter(10, ...times(30, silent))).toBe(false);
});

it('a member that answers once begins anew', () =>
  expect(removedAfter(10, ...times(31, silent), [], silent)).toBe(false));

it('a member whose pod is given another image, or is another pod, begins anew', () => {
  expect(removedAfter(10, ...times(31, silent), [...silent, withCarrier('db-2', { uid: 'another' })])).toBe(false);
  expect(removedAfter(10, ...times(31, silent), [...silent, withCarrier('db-2', { image: 'another' })])).toBe(false);
});

it('passes without contact to etcd do not count', () => {
  expect(removedAfter(10, silent, ...times(100, [outOfContact()]), silent)).toBe(false);
});

it('a process that stood still for an hour has watched nothing meanwhile', () =>
  expect(removedAfter(3600, ...times(5, silent))).toBe(false));

it('a pod is ready, unready or stopping for as long as passes have seen it so, whatever times are written on it', () => {
  let now = 0;
  const watched = new Watched({ monotonic: () => now });
  const hourAgo = aWorld().now - 3_600_000;
  const after = (seconds: number, seen: Parameters<typeof withCarrier>[1]) => {
    now += seconds * 1000;
    const world = aWorld(
      durable(),
      skewed,
      withCarrier('db-2', { unreadySince: hourAgo, readySince: hourAgo, ...seen }),
    );
    const { readyMillis, unreadyMillis, stoppingMillis } =
      watched.see('default/db', world).carriers.find(({ name }) => name === 'db-2') ?? {};
    return { readyMillis, unreadyMillis, stoppingMillis };
  };
  expect(after(10, { ready: false })).toEqual({ unreadyMillis: 0 });
  expect(after(10, { ready: false })).toEqual({ unreadyMillis: 10_000 });
  expect(after(10, { ready: false, phase: 'stopping' })).toEqual({ unreadyMillis: 20_000, stoppingMillis: 0 });
  expect(after(10, { ready: false, phase: 'stopping' })).toEqual({ unreadyMillis: 30_000, stoppingMillis: 10_000 });
  expect(after(10, { ready: true })).toEqual({ readyMillis: 0 });
  expect(after(10, { ready: true })).toEqual({ readyMillis: 10_000 });
});

it('nothing is left of a cluster that is gone', () => {
  const watched = new Watched({ monotonic: () => 0 });
  watched.see('default/db', aWorld());
  expect(watched.size).toBe(1);
  watched.forget('default/db');
  expect(watched.size).toBe(0);
});

it('the time without a majority begins when the cluster has formed, and ends with the first pass that finds one', () => {
  let now = 0;
  const watched = new Watched({ monotonic: () => now });
  const forming: Change = (w) => ({
    ...w,
    memory: { ...w.memory, clusterId: undefined },
    carriers: w.carriers.map((carrier) => ({ ...carrier, ready: false })),
  });
  const after = (...changes: readonly Change[]) => {
    now += 10_000;
    return watched.see('default/db', aWorld(...changes)).withoutQuorumMillis;
  };
  expect(after(outOfContact(), forming)).toBeUndefined();
  expect(after(outOfContact())).toBe(0);
  expect(after(outOfContact())).toBe(10_000);
  expect(after(...silent)).toBeUndefined();
  expect(after(outOfContact())).toBe(0);
});
