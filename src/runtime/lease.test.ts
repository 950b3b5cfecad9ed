import { describe, expect, it } from 'vitest';
import { FakeLeases } from '../../test/support/fake-leases.ts';
import { startCandidate } from '../../test/support/lease-candidates.ts';
import { settled, VirtualClock } from '../../test/support/virtual-clock.ts';
import { type Clock, pause } from './clock.ts';

describe('two candidates', () => {
  it('the first leads as long as it renews the lease', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'one');
    await settled();
    const two = startCandidate(server, clock, 'two');
    await clock.advance(600_000);
    expect(one.leadership?.holds()).toBe(true);
    expect(two.leadership).toBeUndefined();
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'one', leaseTransitions: 0, leaseDurationSeconds: 15 });
    expect(server.lease?.spec?.renewTime).toMatch(/^2026-01-01T00:(09:5|10:0)\d\.\d{6}Z$/);
    expect([...one.failures, ...two.failures]).toEqual([]);
  });

  it('the second leads soon after the first stops and releases the lease', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'one');
    await settled();
    const two = startCandidate(server, clock, 'two');
    await clock.advance(60_000);
    one.stop.abort();
    await clock.advance(3_000);
    expect(one.ended).toBe('stopped');
    expect(two.leadership?.holds()).toBe(true);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
  });

  it('the second waits for the expiry of the lease if the first is cut off; they never lead both', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'one');
    await settled();
    const two = startCandidate(server, clock, 'two');
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
    expect([one.lostFirst, two.lostFirst]).toEqual([true, undefined]);
    expect(one.failures.length).toBeGreaterThan(2);
  });
});

describe('two candidates with clocks ten minutes apart', () => {
  const skewed = ({ monotonic, now, after, random }: VirtualClock, minutes: number): Clock => ({
    ...{ monotonic, after, random },
    now: () => new Date(now().getTime() + minutes * 60_000),
  });

  it.each([10, -10])('never lead both: the second waits for the expiry of the lease (%i minutes)', async (minutes) => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'one');
    await settled();
    const two = startCandidate(server, skewed(clock, minutes), 'two');
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
  it('never lead both: the second waits for the expiry, and the loss names the other process', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'same/one');
    await settled();
    const two = startCandidate(server, clock, 'same/two');
    await clock.advance(600_000);
    expect([one.leadership?.holds(), two.leadership]).toEqual([true, undefined]);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'same', leaseTransitions: 0 });
    const lease = await server.clientOf('two').get({} as never, { name: '' });
    await server.clientOf('two').update({} as never, { ...lease, metadata: { ...lease.metadata, annotations: {} } });
    await clock.advance(4_500);
    const message = 'lost the lease system/operator: another process with the identity same took it';
    expect(one.ended).toMatchObject({ message });
  });

  it('lead in turn: a restarted process waits for the expiry of the old lease once', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    startCandidate(server, clock, 'same/one');
    await clock.advance(60_000);
    server.faults.set('same/one', 'hangs'); // the process was killed
    const two = startCandidate(server, clock, 'same/two');
    await clock.advance(14_000);
    expect(two.leadership).toBeUndefined();
    await clock.advance(4_000);
    expect(two.leadership?.holds()).toBe(true);
  });
});

describe('a leader', () => {
  it.each(['cut off', 'hangs'] as const)('stops before the lease expires if its requests fail: %s', async (fault) => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'one');
    await clock.advance(60_000);
    server.faults.set('one', fault);
    await clock.advance(7_900);
    expect(one.leadership?.lost.aborted).toBe(false);
    await clock.advance(2_600);
    expect(one.leadership?.lost.aborted).toBe(true);
  });

  it('keeps leading if a renewal succeeds before the deadline', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'one');
    await clock.advance(60_000);
    for (const fault of ['cut off', 'answer lost'] as const) {
      server.faults.set('one', fault);
      await clock.advance(7_000);
      server.faults.clear();
      await clock.advance(20_000);
      expect(one.leadership?.holds()).toBe(true);
    }
  });

  it('stops after a pause of its process, before any timer fires', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'one');
    await clock.advance(60_000);
    clock.freeze(3_000);
    expect(one.leadership?.holds()).toBe(true);
    await clock.advance(5_000);
    expect(one.leadership?.holds()).toBe(true);
    clock.freeze(4_000);
    expect(one.leadership?.holds()).toBe(false);
    await clock.advance(0);
    expect(one.leadership?.lost.aborted).toBe(true);
    expect(one.ended).toMatchObject({ message: expect.stringMatching(/was paused for [34]\.\d s/) });
    expect(server.lease?.spec?.holderIdentity).toBe('one'); // not released: the next leader waits for the expiry
  });

  // The lease is renewed every 2 s and guarded every 0.5 s: after 61.6 s the renewal comes first.
  it.each([61, 61.6])('stops after a suspend of its machine at %s s, before any timer fires', async (seconds) => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'one');
    for (const millis of [3_000, -3_600_000]) {
      clock.suspend(millis); // a short suspend, or a wall clock set back
      await clock.advance(60_000);
      expect(one.leadership?.holds()).toBe(true);
    }
    await clock.advance(seconds * 1000 - 60_000);
    clock.suspend(3_600_000); // detected by the wall clock only
    expect(one.leadership?.holds()).toBe(false);
    await clock.advance(500);
    expect(one.ended).toMatchObject({ message: expect.stringMatching(/suspended or .* by 3600\.0 s/) });
  });

  it('stops at its next renewal if another holder took the lease', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'one');
    await clock.advance(60_000);
    const lease = await server.clientOf('thief').get({} as never, { name: '' });
    await server.clientOf('thief').update({} as never, { ...lease, spec: { holderIdentity: 'thief' } } as never);
    await clock.advance(4_500);
    expect(one.ended).toMatchObject({ message: 'lost the lease system/operator: another holder took it' });
    expect(one.leadership?.holds()).toBe(false);
    expect(server.lease?.spec?.holderIdentity).toBe('thief');
  });

  it('counts its time from the request of a slow renewal, not from the answer', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    server.answersAfter = () => pause(clock, 4_000, new AbortController().signal);
    const one = startCandidate(server, clock, 'one');
    await clock.advance(4_000);
    expect(one.leadership?.holds()).toBe(true);
    await clock.advance(3_000);
    server.faults.set('one', 'cut off'); // the renewal of second 6 is answered in second 10
    await clock.advance(8_500);
    expect(one.leadership?.holds()).toBe(true);
    await clock.advance(1_000);
    expect(one.leadership?.holds()).toBe(false);
  });

  it('does not release the lease of another holder after a renewal that failed', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'one');
    await clock.advance(60_000);
    server.faults.set('one', 'cut off');
    await clock.advance(2_000);
    server.faults.clear();
    const lease = await server.clientOf('thief').get({} as never, { name: '' });
    await server.clientOf('thief').update({} as never, { ...lease, spec: { holderIdentity: 'thief' } } as never);
    one.stop.abort();
    await clock.advance(0);
    expect(one.ended).toBe('stopped');
    expect(server.lease?.spec?.holderIdentity).toBe('thief');
  });

  it('releases the lease even if its last renewal got no answer', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    const one = startCandidate(server, clock, 'one');
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
  it('ends at once if stopped before it leads', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    startCandidate(server, clock, 'one');
    await settled();
    const two = startCandidate(server, clock, 'two');
    await clock.advance(1_000);
    two.stop.abort();
    await settled();
    expect(two.ended).toBe('stopped');
    expect(two.leadership).toBeUndefined();
  });

  it('keeps counting towards the expiry while some of its reads fail', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    startCandidate(server, clock, 'one');
    await settled();
    const two = startCandidate(server, clock, 'two');
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

  it('retries while the API server is unreachable', async () => {
    const [server, clock] = [new FakeLeases(), new VirtualClock()];
    server.faults.set('one', 'cut off');
    const one = startCandidate(server, clock, 'one');
    await clock.advance(60_000);
    expect(one.leadership).toBeUndefined();
    server.faults.clear();
    await clock.advance(3_000);
    expect(one.leadership?.holds()).toBe(true);
  });
});
