import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import type { EtcdConnection } from '../../src/etcd/client.ts';
import type { DeclaredCluster } from './cluster.ts';
import { expectServed, served, type TrafficStats, underTraffic } from './traffic.ts';
import { until, WaitTimeout } from './until.ts';

const pairOf = ([key, value]: readonly [string, string], index: number) => ({
  ...{ key, value: Buffer.from(value), modRevision: BigInt(index + 1) },
});

/** A cluster of one member with its data in a map. It `loses` or `hides` from watches the acknowledged keys with this ending. */
function clusterThat({ loses = '', hides = '' }: { readonly loses?: string; readonly hides?: string }) {
  const data = new Map<string, string>();
  const times: number[] = [];
  const pairs = () => [...data].map(pairOf);
  const member = {
    put: async (key: string, value: string) => {
      times.push(performance.now());
      if (!key.endsWith(loses || '-')) data.set(key, value);
    },
    get: async (key: string) => pairs().find((pair) => pair.key === key) ?? pairOf([key, valueOf(key)], 0),
    list: async () => pairs(),
    async *watch(_range: unknown, { fromRevision, signal }: { fromRevision: bigint; signal: AbortSignal }) {
      const after = (revision: bigint) => pairs().filter(({ modRevision }) => modRevision >= revision);
      for (let next = fromRevision; !signal.aborted; await sleep(10))
        for (const pair of after(next).filter(({ key }) => !key.endsWith(hides || '-'))) {
          next = pair.modRevision + 1n;
          yield { pair };
        }
    },
  } as unknown as EtcdConnection;
  const cluster = { withMembers: (use) => use([member]) } as Pick<DeclaredCluster, 'withMembers'> as DeclaredCluster;
  /** Returns after so many writes, however long the machine takes for them. */
  const writes = async (count: number): Promise<void> => {
    for (const before = times.length; times.length < before + count; ) await sleep(5);
  };
  return { cluster, writes, times };
}

const valueOf = (key: string): string => `value ${Number(key.slice('traffic/'.length))}`;

afterEach(() => vi.unstubAllEnvs());

const briefly = { seconds: 0.5 };
/** After the first write, so that the third one is among them, which the cluster may lose or hide. */
const some = 5;

/** The traffic of some writes to a cluster. */
function someTraffic(faults: Parameters<typeof clusterThat>[0] = {}): Promise<TrafficStats> {
  const { cluster, writes } = clusterThat(faults);
  return underTraffic(cluster, () => writes(some), briefly);
}

/** The shortest time between two of some writes, in milliseconds. A busy machine makes it longer, never shorter. */
async function shortestPause(options: object): Promise<number> {
  const { cluster, writes, times } = clusterThat({});
  await underTraffic(cluster, () => writes(some), { ...briefly, ...options });
  return Math.min(...times.slice(1).map((time, index) => time - (times[index] ?? 0)));
}

it('all writes to a healthy cluster are acknowledged', async () => {
  const { written, attempted } = await someTraffic();
  expect(written).toBeGreaterThan(some);
  expect(attempted).toBe(written);
});

it('traffic is dense if TRAFFIC=dense is set and the story has no setting', async () => {
  vi.stubEnv('TRAFFIC', 'dense');
  expect(await shortestPause({ dense: false })).toBeGreaterThan(95);
  await until('dense traffic', async () => (await shortestPause({})) < 95 || undefined, { seconds: 5 });
});

it.each([
  { written: 20, attempted: 40, isServed: true },
  { written: 200, attempted: 401, isServed: false },
  { written: 19, attempted: 19, isServed: false },
])('of $attempted writes $written were acknowledged: served is $isServed', ({ isServed, ...counts }) => {
  const judged = expect(() => expectServed(counts));
  if (isServed) judged.not.toThrow();
  else judged.toThrow(/acknowledged/);
  expect(served({ ...counts, perSecond: 1.11, longestPause: 2 })).toContain('1.1 a second');
});

it('a lost write is a failed expectation, not a time-out of the watcher', async () => {
  const lost = someTraffic({ loses: '2' });
  await expect(lost).rejects.toMatchObject({
    name: 'AssertionError',
    message: expect.stringContaining('acknowledged writes that are missing'),
  });
});

it('a write missed by the watcher only is a failed expectation', async () => {
  const unseen = someTraffic({ hides: '2' });
  await expect(unseen).rejects.toMatchObject({
    name: 'AssertionError',
    message: expect.stringContaining('writes that the watcher has not seen'),
  });
});

it('a lost write is a failed expectation even if a wait of the story timed out', async () => {
  const timeout = new WaitTimeout('not within 1 s: ready');
  const timedOutTraffic = (faults: Parameters<typeof clusterThat>[0]): Promise<TrafficStats> => {
    const { cluster, writes } = clusterThat(faults);
    return underTraffic(cluster, () => writes(some).then(() => Promise.reject(timeout)), briefly);
  };
  await expect(timedOutTraffic({})).rejects.toBe(timeout);
  await expect(timedOutTraffic({ loses: '2' })).rejects.toMatchObject({ name: 'AssertionError', cause: timeout });
});
