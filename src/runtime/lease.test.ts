import { describe, expect, it } from 'vitest';
import { FakeLeases } from '../../test/support/fake-leases.ts';
import { settled, VirtualClock } from '../../test/support/virtual-clock.ts';
import { Failure } from '../std/failure.ts';
import type { Clock } from './clock.ts';
import { type Leadership, lead } from './lease.ts';

interface Candidate {
  /** Undefined until it leads. */
  leadership: Leadership | undefined;
  ended: 'no' | 'stopped' | Failure;
  readonly stop: AbortController;
  readonly troubles: Failure[];
  /** Whether it was told of its loss before anything was called off. */
  toldFirst?: boolean;
}

/** Starts one that leads until it is stopped or loses. `process` is its identity; behind a slash, what tells it apart. */
function start(server: FakeLeases, clock: Clock, process: string): Candidate {
  const [identity = ''] = process.split('/');
  const stop = new AbortController();
  const candidate: Candidate = { leadership: undefined, ended: 'no', stop, troubles: [] };
  const work = (leadership: Leadership): Promise<void> => {
    candidate.leadership = leadership;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    stop.signal.addEventListener('abort', () => resolve());
    leadership.lost.addEventListener('abort', () => reject(new Error('a consequence')));
    return promise;
  };
  const options = {
    client: server.clientOf(process),
    namespace: 'system',
    name: 'operator',
    identity,
    clock,
    onTrouble: (failure: Failure) => candidate.troubles.push(failure),
    onLost: () => void (candidate.toldFirst = candidate.leadership?.lost.aborted === false),
  };
  const run = async (): Promise<void> => {
    try {
      await lead(options, work, stop.signal);
      candidate.ended = 'stopped';
    } catch (thrown) {
      candidate.ended = Failure.from(thrown);
    }
  };
  void run();
  return candidate;
}

describe('of two candidates', () => {
  it('the first leads, for as long as it renews', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = start(server, clock, 'one');
    await settled();
    const two = start(server, clock, 'two');
    await clock.advance(600_000);
    expect(one.leadership?.holds()).toBe(true);
    expect(two.leadership).toBeUndefined();
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'one', leaseTransitions: 0, leaseDurationSeconds: 15 });
    expect(server.lease?.spec?.renewTime).toMatch(/^2026-01-01T00:(09:5|10:0)\d\.\d{6}Z$/);
    expect([...one.troubles, ...two.troubles]).toEqual([]);
  });

  it('the second takes over soon after the first has stopped and finished', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = start(server, clock, 'one');
    await settled();
    const two = start(server, clock, 'two');
    await clock.advance(60_000);
    one.stop.abort();
    await clock.advance(3_000);
    expect(one.ended).toBe('stopped');
    expect(two.leadership?.holds()).toBe(true);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
  });

  it('the second waits for the first to expire when that one is cut off, and never do both lead', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = start(server, clock, 'one');
    await settled();
    const two = start(server, clock, 'two');
    await clock.advance(60_000);
    server.faults.set('one', 'cut off');
    let took = 0;
    for (; took < 40 && two.leadership === undefined; took += 0.1) {
      await clock.advance(100);
      const leaders = [one, two].filter(({ leadership }) => leadership?.holds());
      expect(leaders.length).toBeLessThan(2);
    }
    expect(took).toBeGreaterThan(12);
    expect(took).toBeLessThan(18);
    expect(one.ended).toMatchObject({ message: 'lost the lease system/operator: it could not be renewed in time' });
    expect([one.toldFirst, two.toldFirst]).toEqual([true, undefined]);
    expect(one.troubles.length).toBeGreaterThan(2);
  });
});

describe('two candidates whose clocks are ten minutes apart', () => {
  const skewed = ({ monotonic, now, after, random }: VirtualClock, minutes: number): Clock => ({
    ...{ monotonic, after, random },
    now: () => new Date(now().getTime() + minutes * 60_000),
  });

  it.each([10, -10])('never lead both, and the second waits for the lease to expire (%i minutes)', async (minutes) => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = start(server, clock, 'one');
    await settled();
    const two = start(server, skewed(clock, minutes), 'two');
    await clock.advance(600_000);
    expect(one.leadership?.holds()).toBe(true);
    expect(two.leadership).toBeUndefined();
    server.faults.set('one', 'cut off');
    await clock.advance(12_000);
    expect([one.leadership?.holds(), two.leadership]).toEqual([false, undefined]);
    await clock.advance(10_000);
    expect(two.leadership?.holds()).toBe(true);
  });
});

describe('two processes with the same identity', () => {
  it('never lead both: the second waits for the lease to expire, and the first loses it by name', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = start(server, clock, 'same/one');
    await settled();
    const two = start(server, clock, 'same/two');
    await clock.advance(600_000);
    expect([one.leadership?.holds(), two.leadership]).toEqual([true, undefined]);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'same', leaseTransitions: 0 });
    const lease = await server.clientOf('two').get({} as never, { name: '' });
    await server.clientOf('two').update({} as never, { ...lease, metadata: { ...lease.metadata, annotations: {} } });
    await clock.advance(4_500);
    const says = 'lost the lease system/operator: another process with the identity same took it';
    expect(one.ended).toMatchObject({ message: says });
  });

  it('follow each other: a restarted process waits for the lease of its predecessor once', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    start(server, clock, 'same/one');
    await clock.advance(60_000);
    server.faults.set('same/one', 'hangs'); // it was killed
    const two = start(server, clock, 'same/two');
    await clock.advance(14_000);
    expect(two.leadership).toBeUndefined();
    await clock.advance(4_000);
    expect(two.leadership?.holds()).toBe(true);
  });
});

describe('a leader', () => {
  it.each(['cut off', 'hangs'] as const)('stops in time when its requests are %s', async (fault) => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = start(server, clock, 'one');
    await clock.advance(60_000);
    server.faults.set('one', fault);
    await clock.advance(7_900);
    expect(one.leadership?.lost.aborted).toBe(false);
    await clock.advance(2_600);
    expect(one.leadership?.lost.aborted).toBe(true);
  });

  it('goes on when it can renew again before the deadline', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = start(server, clock, 'one');
    await clock.advance(60_000);
    for (const fault of ['cut off', 'answer lost'] as const) {
      server.faults.set('one', fault);
      await clock.advance(7_000);
      server.faults.clear();
      await clock.advance(20_000);
      expect(one.leadership?.holds()).toBe(true);
    }
  });

  it('stops when its process stood still, and knows before any timer has fired', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = start(server, clock, 'one');
    await clock.advance(60_000);
    clock.freeze(3_000);
    expect(one.leadership?.holds()).toBe(true);
    await clock.advance(5_000);
    expect(one.leadership?.holds()).toBe(true);
    clock.freeze(4_000);
    expect(one.leadership?.holds()).toBe(false);
    await clock.advance(0);
    expect(one.leadership?.lost.aborted).toBe(true);
    expect(one.ended).toMatchObject({ message: expect.stringMatching(/stood still for [34]\.\d s/) });
    expect(server.lease?.spec?.holderIdentity).toBe('one'); // who comes next has to wait, as if we had crashed
  });

  // It renews every 2 s and looks every 0.5 s: after 61.6 s the renewal comes first.
  it.each([61, 61.6])('stops when its machine was suspended after %s s, before any timer fires', async (seconds) => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = start(server, clock, 'one');
    for (const millis of [3_000, -3_600_000]) {
      clock.suspend(millis); // too short; and a wall clock that is set back
      await clock.advance(60_000);
      expect(one.leadership?.holds()).toBe(true);
    }
    await clock.advance(seconds * 1000 - 60_000);
    clock.suspend(3_600_000); // which only the wall clock shows
    expect(one.leadership?.holds()).toBe(false);
    await clock.advance(500);
    expect(one.ended).toMatchObject({ message: expect.stringMatching(/suspended, .* by 3600\.0 s/) });
  });

  it('stops at its next renewal when somebody else took the lease', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = start(server, clock, 'one');
    await clock.advance(60_000);
    const lease = await server.clientOf('thief').get({} as never, { name: '' });
    await server.clientOf('thief').update({} as never, { ...lease, spec: { holderIdentity: 'thief' } } as never);
    await clock.advance(4_500);
    expect(one.ended).toMatchObject({ message: 'lost the lease system/operator: somebody else took it' });
    expect(server.lease?.spec?.holderIdentity).toBe('thief');
  });

  it('gives the lease back even when its last renewal was not answered', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = start(server, clock, 'one');
    await clock.advance(60_000);
    server.faults.set('one', 'answer lost');
    await clock.advance(2_000);
    server.faults.clear();
    one.stop.abort();
    await clock.advance(0);
    expect(one.ended).toBe('stopped');
    expect(server.lease?.spec?.holderIdentity).toBe('');
  });
});

describe('a candidate', () => {
  it('ends at once when it is stopped before it leads', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    start(server, clock, 'one');
    await settled();
    const two = start(server, clock, 'two');
    await clock.advance(1_000);
    two.stop.abort();
    await settled();
    expect(two.ended).toBe('stopped');
    expect(two.leadership).toBeUndefined();
  });

  it('counts on while some of its looks fail', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    start(server, clock, 'one');
    await settled();
    const two = start(server, clock, 'two');
    await clock.advance(60_000);
    server.faults.set('one', 'cut off');
    for (let second = 0; second < 20; second += 4) {
      await clock.advance(2_000);
      server.faults.set('two', 'cut off');
      await clock.advance(2_000);
      server.faults.delete('two');
    }
    expect(two.leadership?.holds()).toBe(true);
  });

  it('goes on trying while the server is away', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    server.faults.set('one', 'cut off');
    const one = start(server, clock, 'one');
    await clock.advance(60_000);
    expect(one.leadership).toBeUndefined();
    server.faults.clear();
    await clock.advance(3_000);
    expect(one.leadership?.holds()).toBe(true);
  });
});
