import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { EtcdConnection } from '../../src/etcd/client.ts';
import type { KeyValue } from '../../src/etcd/types.ts';
import type { DeclaredCluster } from './cluster.ts';
import { isAssertion, until, WaitTimeout } from './until.ts';

/** The statistics of the clients of a cluster. */
export interface TrafficStats {
  /** Writes that the client began. It tries the members in turn until one acknowledges the write. */
  readonly attempted: number;
  /** Acknowledged writes. */
  readonly written: number;
  /** Acknowledged writes per second. */
  readonly perSecond: number;
  /** The longest time without an acknowledged write, in milliseconds. */
  readonly longestPause: number;
}

interface Pace {
  readonly writeMillis: number;
  readonly readMillis: number;
  /** The time after which a watch is closed and reopened from the next revision; undefined never closes it. */
  readonly watchMillis?: number;
}

/**
 * Traffic costs CPU, and a stopping etcd waits about 7 s for open watches. Most stories therefore write ten times a second and
 * reopen their watch every second. A few stories are dense, like clients that never disconnect.
 */
const paces: Readonly<Record<'usual' | 'dense', Pace>> = {
  usual: { writeMillis: 100, readMillis: 200, watchMillis: 1000 },
  dense: { writeMillis: 20, readMillis: 50 },
};

const least = { share: 0.5, written: 20 } as const;

/**
 * Checks that at least half of the attempted writes were acknowledged, including elections, rollouts and replacements. The rate
 * depends on the machine and is only printed.
 */
export function expectServed({ attempted, written }: Pick<TrafficStats, 'attempted' | 'written'>): void {
  expect(written / attempted, `${written} of ${attempted} writes acknowledged`).toBeGreaterThanOrEqual(least.share);
  expect(written, 'acknowledged writes').toBeGreaterThanOrEqual(least.written);
}

/** A summary for the title of a step. */
export const served = ({ attempted, written, perSecond, longestPause }: TrafficStats): string =>
  `${written} of ${attempted} writes acknowledged, ${perSecond.toFixed(1)} a second, longest pause ${longestPause.toFixed(0)} ms`;

/**
 * Runs a writer, a reader and a watcher while `change` changes the cluster. Checks that no acknowledged write is missing, that no
 * read was stale, and that the watcher received every write.
 */
export async function underTraffic(
  cluster: DeclaredCluster,
  change: () => Promise<void>,
  { dense = process.env['TRAFFIC'] === 'dense', seconds = 60 }: TrafficOptions = {},
): Promise<TrafficStats> {
  const pace = paces[dense ? 'dense' : 'usual'];
  const began = performance.now();
  const stop = new AbortController();
  const acknowledged = new Map<string, string>();
  const received: Received = { keys: new Set(), backwards: [] };
  const pauses: number[] = [0];
  const clients = Promise.all([
    write(cluster, { acknowledged, pauses, pace }, stop.signal),
    read(cluster, { acknowledged, pace }, stop.signal),
    watch(cluster, { ...received, pace }, stop.signal),
  ]);
  let unseen: readonly string[];
  try {
    await until('the first write', async () => acknowledged.size > 0 || undefined, { seconds });
    await change();
    await until('a write after the change', writesAgain(acknowledged), { seconds });
    unseen = await unseenAfter(seconds, [...acknowledged.keys()], received.keys);
  } catch (thrown) {
    if (thrown instanceof WaitTimeout) await throwIfLost(thrown, cluster, acknowledged);
    throw thrown;
  } finally {
    stop.abort();
    await clients;
  }
  const [attempted] = await clients;
  const ran = (performance.now() - began) / 1000;
  expect(received.backwards).toEqual([]);
  await expectAllWrites(cluster, acknowledged);
  expect(unseen, 'writes that the watcher has not seen').toEqual([]);
  const written = acknowledged.size;
  return { attempted, written, perSecond: written / ran, longestPause: Math.max(...pauses) };
}

interface TrafficOptions {
  /** The default is the environment variable TRAFFIC: the full run is dense. */
  readonly dense?: boolean;
  /** The time-out of each wait for the clients. */
  readonly seconds?: number;
}

/** The writes that the watcher has not received at its deadline. They are no time-out, because a timed-out story runs again. */
async function unseenAfter(
  seconds: number,
  keys: readonly string[],
  seen: ReadonlySet<string>,
): Promise<readonly string[]> {
  const unseen = (): readonly string[] => keys.filter((key) => !seen.has(key));
  await until('the watcher has seen every write', async () => unseen().length === 0 || undefined, { seconds }).catch(
    (thrown: unknown) => {
      if (!(thrown instanceof WaitTimeout)) throw thrown;
    },
  );
  return unseen();
}

/** Looks for lost writes after a time-out: a timed-out story runs again, but a story with a lost write must fail. */
async function throwIfLost(
  cause: WaitTimeout,
  cluster: DeclaredCluster,
  acknowledged: ReadonlyMap<string, string>,
): Promise<void> {
  await expectAllWrites(cluster, new Map(acknowledged), 5).catch((thrown: unknown) => {
    if (isAssertion(thrown)) throw Object.assign(thrown as Error, { cause });
  });
}

function writesAgain(acknowledged: ReadonlyMap<string, string>): () => Promise<true | undefined> {
  const before = acknowledged.size;
  return async () => acknowledged.size > before || undefined;
}

async function expectAllWrites(
  cluster: DeclaredCluster,
  acknowledged: ReadonlyMap<string, string>,
  seconds = 60,
): Promise<void> {
  const ask = (): Promise<readonly KeyValue[]> =>
    cluster.withMembers((members) =>
      Promise.any(members.map((member) => member.list({ key: 'traffic/', prefix: true }))),
    );
  const found = await until('a read of all keys', ask, { seconds });
  const values = new Map(found.map(({ key, value }) => [key, Buffer.from(value).toString()]));
  const missing = [...acknowledged].filter(([key, value]) => values.get(key) !== value);
  expect(missing, 'acknowledged writes that are missing').toEqual([]);
}

interface Records {
  readonly acknowledged: Map<string, string>;
  readonly pauses: number[];
  readonly pace: Pace;
}

/** Writes keys one by one to the first member that accepts; returns the number of attempts. */
async function write(
  cluster: DeclaredCluster,
  { acknowledged, pauses, pace }: Records,
  signal: AbortSignal,
): Promise<number> {
  let last = performance.now();
  let i = 0;
  for (; !signal.aborted; i++) {
    const [key, value] = [`traffic/${String(i).padStart(6, '0')}`, `value ${i}`];
    if (await anyMember(cluster, (member) => member.put(key, value, { timeoutMillis: 1000 }))) {
      acknowledged.set(key, value);
      pauses.push(performance.now() - last);
      last = performance.now();
    }
    await sleep(pace.writeMillis, undefined, { signal }).catch(() => undefined);
  }
  return i;
}

/** Reads the last acknowledged key: the value must be the written one. */
async function read(
  cluster: DeclaredCluster,
  { acknowledged, pace }: Omit<Records, 'pauses'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const newest = [...acknowledged].at(-1);
    let value: string | undefined = '';
    const answered =
      newest !== undefined &&
      (await anyMember(cluster, async (member) => {
        const pair = await member.get(newest[0], { timeoutMillis: 1000 });
        value = pair === undefined ? undefined : Buffer.from(pair.value).toString();
      }));
    if (answered) expect(value, `a read of ${newest[0]}`).toBe(newest[1]);
    await sleep(pace.readMillis, undefined, { signal }).catch(() => undefined);
  }
}

/** The keys that the watcher received, and the keys that arrived after a newer revision. */
interface Received {
  readonly keys: Set<string>;
  readonly backwards: string[];
}

/**
 * Watches from the first revision. When a watch is closed or its member is gone, the next watch continues at the next revision.
 * Events that were not processed arrive again.
 */
async function watch(
  cluster: DeclaredCluster,
  { keys, backwards, pace }: Received & Pick<Records, 'pace'>,
  signal: AbortSignal,
): Promise<void> {
  let from = 1n;
  const noted = ({ key, modRevision }: KeyValue, expected: bigint): bigint => {
    if (modRevision < expected) backwards.push(`${key} at ${modRevision}, after ${expected - 1n}`);
    keys.add(key);
    return modRevision + 1n;
  };
  const follow = async (member: EtcdConnection): Promise<void> => {
    const over = pace.watchMillis === undefined ? signal : AbortSignal.timeout(pace.watchMillis);
    const options = { fromRevision: from, signal: AbortSignal.any([signal, over]) };
    try {
      for await (const { pair } of member.watch({ key: 'traffic/', prefix: true }, options)) {
        from = noted(pair, from);
      }
    } catch (thrown) {
      if (!over.aborted) throw thrown;
    }
  };
  while (!signal.aborted) {
    await anyMember(cluster, follow);
    await sleep(50, undefined, { signal }).catch(() => undefined);
  }
}

/** Tries the members in turn; true if a request succeeded. */
async function anyMember(
  cluster: DeclaredCluster,
  ask: (member: EtcdConnection) => Promise<unknown>,
): Promise<boolean> {
  return cluster
    .withMembers(async (members) => {
      for (const member of members) {
        const done = await ask(member).then(
          () => true,
          () => false, // try the next member; failures of all members show in the statistics
        );
        if (done) return true;
      }
      return false;
    })
    .catch(() => false);
}
