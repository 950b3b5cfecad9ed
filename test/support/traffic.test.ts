import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import type { EtcdConnection } from '../../src/etcd/client.ts';
import type { DeclaredCluster } from './cluster.ts';
import { expectServed, served, underTraffic } from './traffic.ts';
import { WaitTimeout } from './until.ts';

const pairOf = ([key, value]: readonly [string, string], index: number) => ({
  ...{ key, value: Buffer.from(value), modRevision: BigInt(index + 1) },
});

/** A cluster of one member with its data in a map. It `loses` or `hides` from watches the acknowledged keys with this ending. */
function clusterThat({ loses = '', hides = '' }: { readonly loses?: string; readonly hides?: string }) {
  const data = new Map<string, string>();
  const pairs = () => [...data].map(pairOf);
  const member = {
    put: async (key: string, value: string) => void (key.endsWith(loses || '-') || data.set(key, value)),
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
  return { withMembers: (use) => use([member]) } as Pick<DeclaredCluster, 'withMembers'> as DeclaredCluster;
}

const valueOf = (key: string): string => `value ${Number(key.slice('traffic/'.length))}`;

afterEach(() => vi.unstubAllEnvs());

const briefly = { seconds: 0.5 };
const aWhile = (): Promise<void> => sleep(500);

it('all writes to a healthy cluster are acknowledged', async () => {
  const { written, attempted } = await underTraffic(clusterThat({}), aWhile, briefly);
  expect(written).toBeGreaterThan(2);
  expect(attempted).toBe(written);
});

it('traffic is dense if TRAFFIC=dense is set and the story has no setting', async () => {
  const written = async (options: object): Promise<number> =>
    (await underTraffic(clusterThat({}), aWhile, { ...briefly, ...options })).written;
  vi.stubEnv('TRAFFIC', 'dense');
  const [dense, usual] = [await written({}), await written({ dense: false })];
  expect(dense).toBeGreaterThan(2 * usual);
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
  const lost = underTraffic(clusterThat({ loses: '2' }), aWhile, briefly);
  await expect(lost).rejects.toMatchObject({
    name: 'AssertionError',
    message: expect.stringContaining('acknowledged writes that are missing'),
  });
});

it('a write missed by the watcher only is a failed expectation', async () => {
  const unseen = underTraffic(clusterThat({ hides: '2' }), aWhile, briefly);
  await expect(unseen).rejects.toMatchObject({
    name: 'AssertionError',
    message: expect.stringContaining('writes that the watcher has not seen'),
  });
});

it('a lost write is a failed expectation even if a wait of the story timed out', async () => {
  const timeout = new WaitTimeout('not within 1 s: ready');
  const runsOut = async (): Promise<never> => aWhile().then(() => Promise.reject(timeout));
  await expect(underTraffic(clusterThat({}), runsOut, briefly)).rejects.toBe(timeout);
  const lost = underTraffic(clusterThat({ loses: '2' }), runsOut, briefly);
  await expect(lost).rejects.toMatchObject({ name: 'AssertionError', cause: timeout });
});
