import { describe, expect, it } from 'vitest';
import { samplePod } from '../../test/support/sample-objects.ts';
import { settled, VirtualClock } from '../../test/support/virtual-clock.ts';
import type { KubeClient } from '../kube/client.ts';
import { ApiFailure } from '../kube/errors.ts';
import { type CoreEvent, keyOf } from '../kube/object.ts';
import { Failure } from '../std/failure.ts';
import { type EventContent, EventRecorder } from './events.ts';

interface Server {
  readonly recorder: EventRecorder;
  readonly clock: VirtualClock;
  readonly kept: Map<string, CoreEvent>;
  readonly failures: Failure[];
  calls: number;
  fault: 'cut off' | 'answer lost' | undefined;
}

function setUp(): Server {
  const clock = new VirtualClock();
  const failures: Failure[] = [];
  const kept = new Map<string, CoreEvent>();
  const reach = <T>(act: () => T): T => {
    server.calls++;
    if (server.fault === 'cut off') throw new Failure('unreachable', 'cut off');
    const answer = act();
    if (server.fault === 'answer lost') throw new Failure('unreachable', 'no answer');
    return answer;
  };
  const client: Pick<KubeClient, 'create' | 'patch'> = {
    create: async (_, object) =>
      reach(() => {
        const { name } = object.metadata;
        if (kept.has(name)) throw new ApiFailure('conflict', 'exists', { reason: 'AlreadyExists' });
        kept.set(name, object as unknown as CoreEvent);
        return object as never;
      }),
    patch: async (_, { name }, { body }) =>
      reach(() => {
        const event = kept.get(name);
        if (event === undefined) throw new ApiFailure('not-found', 'forgotten');
        kept.set(name, Object.assign({}, event, body));
        return event as never;
      }),
  };
  const onFailure = (failure: Failure): void => void failures.push(failure);
  const recorder = new EventRecorder({ client, clock, component: 'operator', instance: 'operator-1', onFailure });
  const server: Server = { recorder, clock, kept, failures, calls: 0, fault: undefined };
  return server;
}

const grown: EventContent = { type: 'Normal', reason: 'MemberAdded', message: 'New member a added' };
const flush = (recorder: EventRecorder): Promise<void> => recorder.flush(new AbortController().signal);
const counts = (kept: Map<string, CoreEvent>): (number | undefined)[] => [...kept.values()].map(({ count }) => count);

describe('EventRecorder', () => {
  it('an Event has reason, message, involved object and reporting component', async () => {
    const { recorder, kept } = setUp();
    recorder.record(samplePod('a', 7), grown);
    await flush(recorder);
    expect([...kept.values()]).toMatchObject([
      {
        metadata: { namespace: 'default', name: expect.stringMatching(/^a\.[0-9a-f]+$/) },
        involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-of-a' },
        ...grown,
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'operator' },
        reportingInstance: 'operator-1',
      },
    ]);
  });

  it('a repeat within ten minutes increments the count; a later repeat creates a new Event', async () => {
    const { recorder, kept, clock } = setUp();
    for (const wait of [0, 300_000, 300_000, 601_000]) {
      await clock.advance(wait);
      recorder.record(samplePod('a', 7), grown);
      await flush(recorder);
    }
    expect(counts(kept)).toEqual([3, 1]);
    expect([...kept.values()][0]?.lastTimestamp).toBe('2026-01-01T00:10:00Z');
  });

  it('a repeat while the first Event waits to be sent causes one request', async () => {
    const server = setUp();
    for (let i = 0; i < 5; i++) server.recorder.record(samplePod('a', 7), grown);
    await flush(server.recorder);
    expect(counts(server.kept)).toEqual([5]);
    expect(server.calls).toBe(1);
  });

  it('another object or another message creates another Event', async () => {
    const { recorder, kept } = setUp();
    recorder.record(samplePod('a', 7), grown);
    recorder.record(samplePod('b', 7), grown);
    recorder.record(samplePod('a', 7), { ...grown, message: 'New member b added' });
    recorder.record(samplePod('a', 7), { ...grown, reason: 'MemberRemoved' });
    await flush(recorder);
    expect(counts(kept)).toEqual([1, 1, 1, 1]);
    expect(kept.size).toBe(4);
  });

  it('a repeat creates a new Event if the server deleted the first', async () => {
    const { recorder, kept, failures } = setUp();
    recorder.record(samplePod('a', 7), grown);
    await flush(recorder);
    kept.clear();
    recorder.record(samplePod('a', 7), grown);
    await flush(recorder);
    expect(counts(kept)).toEqual([2]);
    expect(failures).toEqual([]);
  });

  it('a lost answer does not duplicate an Event', async () => {
    const server = setUp();
    server.fault = 'answer lost';
    server.recorder.record(samplePod('a', 7), grown);
    await settled();
    server.fault = undefined;
    await server.clock.advance(5_000);
    await flush(server.recorder);
    expect(counts(server.kept)).toEqual([1]);
    expect(server.failures).toEqual([]);
  });

  it('an Event is dropped after three attempts, and after one attempt once flush is aborted', async () => {
    const server = setUp();
    server.fault = 'cut off';
    server.recorder.record(samplePod('a', 7), grown);
    await server.clock.advance(60_000);
    expect(server.calls).toBe(3);
    expect(server.failures).toHaveLength(1);
    server.recorder.record(samplePod('b', 7), grown);
    await server.recorder.flush(AbortSignal.abort());
    expect(server.calls).toBe(4);
    expect(server.failures).toHaveLength(2);
  });

  it('a message above 1024 characters is truncated', async () => {
    const { recorder, kept } = setUp();
    recorder.record(samplePod('a', 7), { ...grown, message: 'x'.repeat(5000) });
    await flush(recorder);
    expect([...kept.values()][0]?.message).toHaveLength(1024);
  });
});

describe('the Event rate limit', () => {
  it('applies per object, is reported once, and refills with time', async () => {
    const { recorder, kept, failures, clock } = setUp();
    for (let i = 0; i < 80; i++) recorder.record(samplePod('a', 7), { ...grown, message: `${i}` });
    recorder.record(samplePod('b', 7), grown);
    await flush(recorder);
    expect(kept.size).toBe(51);
    expect(failures.map(({ message }) => message)).toEqual(['Event dropped: Pod a exceeds its Event rate limit']);
    await clock.advance(60_000);
    for (let i = 0; i < 5; i++) recorder.record(samplePod('a', 7), { ...grown, message: `later ${i}` });
    await flush(recorder);
    expect(kept.size).toBe(53);
  });

  it('a full queue drops Events, and is reported once until Events are sent again', async () => {
    const { recorder, kept, failures } = setUp();
    const record = (count: number): void => {
      for (let i = 0; i < count; i++) recorder.record(samplePod(`p${i}`, 7), { ...grown, message: `${kept.size}` });
    };
    record(2_010);
    expect(failures.map(({ message }) => message)).toEqual(['Event dropped: 2000 Events already wait to be sent']);
    await flush(recorder);
    expect(kept.size).toBe(2_000);
    record(2_010);
    expect(failures).toHaveLength(2);
  });

  it('an expired Event leaves nothing in memory once its object is forgotten', async () => {
    const { recorder, clock } = setUp();
    recorder.record(samplePod('a', 7), grown);
    await flush(recorder);
    await clock.advance(2_000_000);
    recorder.record(samplePod('b', 7), grown);
    await flush(recorder);
    expect(recorder.size).toBe(2);
    for (const name of ['a', 'b']) recorder.forget(keyOf(samplePod(name, 7).metadata));
    expect(recorder.size).toBe(0);
  });

  it('forget drops a deleted object from memory, but still sends its Events', async () => {
    const { recorder, kept } = setUp();
    recorder.record(samplePod('a', 7), grown);
    recorder.record(samplePod('b', 7), grown);
    recorder.forget(keyOf(samplePod('a', 7).metadata));
    expect(recorder.size).toBe(2);
    await flush(recorder);
    expect(kept.size).toBe(2);
    recorder.forget(keyOf(samplePod('b', 7).metadata));
    expect(recorder.size).toBe(0);
  });
});
