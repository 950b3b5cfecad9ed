import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { makeChaos } from './chaos.ts';
import { makeLog } from './telemetry/log.ts';

describe('chaos', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const killedAt = async (level: number, seconds: number): Promise<readonly string[]> => {
    const clock = new VirtualClock();
    clock.chance = 0.9;
    const killed: string[] = [];
    const client = {
      list: async () => ({
        items: names.map((name) => ({ metadata: { name, namespace: 'default' } })),
        resourceVersion: '1',
      }),
      remove: async (_: unknown, { name }: { name: string }) => void killed.push(name),
    };
    const stop = new AbortController();
    const running = makeChaos({ level, client: client as never, namespace: 'default', clock, log: makeLog('silent') })(
      stop.signal,
    );
    await clock.advance(seconds * 1000);
    stop.abort();
    await running;
    return killed;
  };

  it('kills no members by default', async () => {
    expect(await killedAt(-1, 600)).toEqual([]);
  });

  it('kills the first member after a minute, and then one every 30 seconds', async () => {
    expect(await killedAt(1, 59)).toHaveLength(0);
    expect(await killedAt(1, 61)).toHaveLength(1);
    expect(await killedAt(1, 91)).toHaveLength(2);
  });

  it('kills up to five members at once at level 2', async () => {
    expect(await killedAt(2, 61)).toHaveLength(5);
  });
});
