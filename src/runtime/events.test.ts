import { describe, expect, it } from 'vitest';
import { samplePod } from '../../test/support/sample-objects.ts';
import { settled, VirtualClock } from '../../test/support/virtual-clock.ts';
import type { KubeClient } from '../kube/client.ts';
import { ApiFailure } from '../kube/errors.ts';
import { type CoreEvent, keyOf } from '../kube/object.ts';
import { Failure } from '../std/failure.ts';
import { EventRecorder, type Told } from './events.ts';

interface Server {
  readonly recorder: EventRecorder;
  readonly clock: VirtualClock;
  readonly kept: Map<string, CoreEvent>;
  readonly troubles: Failure[];
  calls: number;
  fault: 'cut off' | 'answer lost' | undefined;
}

function setUp(): Server {
  const clock = new VirtualClock();
  const troubles: Failure[] = [];
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
  const onTrouble = (failure: Failure): void => void troubles.push(failure);
  const recorder = new EventRecorder({ client, clock, component: 'operator', instance: 'operator-1', onTrouble });
  const server: Server = { recorder, clock, kept, troubles, calls: 0, fault: undefined };
  return server;
}

const grown: Told = { type: 'Normal', reason: 'MemberAdded', message: 'New member a added' };
const flush = (recorder: EventRecorder): Promise<void> => recorder.flush(new AbortController().signal);
const counts = (kept: Map<string, CoreEvent>): (number | undefined)[] => [...kept.values()].map(({ count }) => count);

describe('an event', () => {
  it('says what happened to what, and who says so', async () => {
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

  it('that repeats within ten minutes is counted, and after that is a new one', async () => {
    const { recorder, kept, clock } = setUp();
    for (const wait of [0, 300_000, 300_000, 601_000]) {
      await clock.advance(wait);
      recorder.record(samplePod('a', 7), grown);
      await flush(recorder);
    }
    expect(counts(kept)).toEqual([3, 1]);
    expect([...kept.values()][0]?.lastTimestamp).toBe('2026-01-01T00:10:00Z');
  });

  it('that repeats while the first is on its way is sent once', async () => {
    const server = setUp();
    for (let i = 0; i < 5; i++) server.recorder.record(samplePod('a', 7), grown);
    await flush(server.recorder);
    expect(counts(server.kept)).toEqual([5]);
    expect(server.calls).toBe(1);
  });

  it('of another object, or with other words, is another one', async () => {
    const { recorder, kept } = setUp();
    recorder.record(samplePod('a', 7), grown);
    recorder.record(samplePod('b', 7), grown);
    recorder.record(samplePod('a', 7), { ...grown, message: 'New member b added' });
    recorder.record(samplePod('a', 7), { ...grown, reason: 'MemberRemoved' });
    await flush(recorder);
    expect(counts(kept)).toEqual([1, 1, 1, 1]);
    expect(kept.size).toBe(4);
  });

  it('is recorded anew when the server has forgotten it', async () => {
    const { recorder, kept, troubles } = setUp();
    recorder.record(samplePod('a', 7), grown);
    await flush(recorder);
    kept.clear();
    recorder.record(samplePod('a', 7), grown);
    await flush(recorder);
    expect(counts(kept)).toEqual([2]);
    expect(troubles).toEqual([]);
  });

  it('is there once when the answer was lost', async () => {
    const server = setUp();
    server.fault = 'answer lost';
    server.recorder.record(samplePod('a', 7), grown);
    await settled();
    server.fault = undefined;
    await server.clock.advance(5_000);
    await flush(server.recorder);
    expect(counts(server.kept)).toEqual([1]);
    expect(server.troubles).toEqual([]);
  });

  it('is given up after some attempts, and at once in a hurry, without anybody failing', async () => {
    const server = setUp();
    server.fault = 'cut off';
    server.recorder.record(samplePod('a', 7), grown);
    await server.clock.advance(60_000);
    expect(server.calls).toBe(3);
    expect(server.troubles).toHaveLength(1);
    server.recorder.record(samplePod('b', 7), grown);
    await server.recorder.flush(AbortSignal.abort());
    expect(server.calls).toBe(4);
    expect(server.troubles).toHaveLength(2);
  });

  it('is cut short when it is too long', async () => {
    const { recorder, kept } = setUp();
    recorder.record(samplePod('a', 7), { ...grown, message: 'x'.repeat(5000) });
    await flush(recorder);
    expect([...kept.values()][0]?.message).toHaveLength(1024);
  });
});

describe('events without end', () => {
  it('are held back for that object only, are said to be, and come again after a while', async () => {
    const { recorder, kept, troubles, clock } = setUp();
    for (let i = 0; i < 80; i++) recorder.record(samplePod('a', 7), { ...grown, message: `${i}` });
    recorder.record(samplePod('b', 7), grown);
    await flush(recorder);
    expect(kept.size).toBe(51);
    expect(troubles.map(({ message }) => message)).toEqual(['an event was not recorded: Pod a has too many']);
    await clock.advance(60_000);
    for (let i = 0; i < 5; i++) recorder.record(samplePod('a', 7), { ...grown, message: `later ${i}` });
    await flush(recorder);
    expect(kept.size).toBe(53);
  });

  it('of an object that is gone is not kept in mind, and is sent all the same', async () => {
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
