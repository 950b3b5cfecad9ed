import { expect, it } from 'vitest';
import {
  aWorld,
  type Change,
  durable,
  outOfContact,
  withMember,
  withMemberPod,
} from '../../../../test/support/worlds.ts';
import { planCluster } from '../../../core/cluster/plan/plan-cluster.ts';
import { Watched } from './watched.ts';

const silent = [withMember('db-2', { health: 'silent', leads: false }), withMemberPod('db-2', { ready: false })];
const skewed: Change = (world) => ({ ...world, now: world.now + 600_000 });

/** Returns whether a member is removed after these passes, with this many seconds between two passes. */
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

it('the silence of a member starts again after one answer', () =>
  expect(removedAfter(10, ...times(31, silent), [], silent)).toBe(false));

it('the silence of a member starts again with another image or another pod', () => {
  expect(removedAfter(10, ...times(31, silent), [...silent, withMemberPod('db-2', { uid: 'another' })])).toBe(false);
  expect(removedAfter(10, ...times(31, silent), [...silent, withMemberPod('db-2', { image: 'another' })])).toBe(false);
});

it('passes without contact to etcd do not count', () => {
  expect(removedAfter(10, silent, ...times(100, [outOfContact()]), silent)).toBe(false);
});

it('the time that the process was suspended does not count', () =>
  expect(removedAfter(3600, ...times(5, silent))).toBe(false));

it('the time that a pod is ready, unready or stopping is measured by passes, not by its timestamps', () => {
  let now = 0;
  const watched = new Watched({ monotonic: () => now });
  const hourAgo = aWorld().now - 3_600_000;
  const after = (seconds: number, seen: Parameters<typeof withMemberPod>[1]) => {
    now += seconds * 1000;
    const world = aWorld(
      durable(),
      skewed,
      withMemberPod('db-2', { unreadySince: hourAgo, readySince: hourAgo, ...seen }),
    );
    const { readyMillis, unreadyMillis, stoppingMillis } =
      watched.see('default/db', world).memberPods.find(({ name }) => name === 'db-2') ?? {};
    return { readyMillis, unreadyMillis, stoppingMillis };
  };
  expect(after(10, { ready: false })).toEqual({ unreadyMillis: 0 });
  expect(after(10, { ready: false })).toEqual({ unreadyMillis: 10_000 });
  expect(after(10, { ready: false, phase: 'stopping' })).toEqual({ unreadyMillis: 20_000, stoppingMillis: 0 });
  expect(after(10, { ready: false, phase: 'stopping' })).toEqual({ unreadyMillis: 30_000, stoppingMillis: 10_000 });
  expect(after(10, { ready: true })).toEqual({ readyMillis: 0 });
  expect(after(10, { ready: true })).toEqual({ readyMillis: 10_000 });
});

it('a forgotten cluster leaves no entry', () => {
  const watched = new Watched({ monotonic: () => 0 });
  watched.see('default/db', aWorld());
  expect(watched.size).toBe(1);
  watched.forget('default/db');
  expect(watched.size).toBe(0);
});

it('the time without quorum starts after the cluster has formed, and ends with the first pass with quorum', () => {
  let now = 0;
  const watched = new Watched({ monotonic: () => now });
  const forming: Change = (w) => ({
    ...w,
    memory: { ...w.memory, clusterId: undefined },
    memberPods: w.memberPods.map((memberPod) => ({ ...memberPod, ready: false })),
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
