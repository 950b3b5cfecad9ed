import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { EtcdConnection } from '../../src/etcd/client.ts';
import type { KeyValue } from '../../src/etcd/words.ts';
import type { DeclaredCluster } from './cluster.ts';
import { isAssertion, until, WaitTimeout } from './until.ts';

/** What the clients of a cluster went through. */
export interface Experience {
  /** Writes that a client began, each at one member after the other until one acknowledges it. */
  readonly attempted: number;
  /** Writes that were acknowledged. */
  readonly written: number;
  /** Writes that were acknowledged per second of the time that the traffic ran. */
  readonly perSecond: number;
  /** The longest time in which no write was acknowledged, in milliseconds. */
  readonly longestPause: number;
}

interface Pace {
  readonly writeMillis: number;
  readonly readMillis: number;
  /** How long a watch stays open before it is opened again from the next revision; without it, for as long as it can. */
  readonly watchMillis?: number;
}

/**
 * Traffic costs CPU, and an etcd that is told to stop waits some 7 s for watches that are open. So most stories write ten
 * times a second and open their watch anew every second; a few are dense, as clients that never let go are.
 */
const paces: Readonly<Record<'usual' | 'dense', Pace>> = {
  usual: { writeMillis: 100, readMillis: 200, watchMillis: 1000 },
  dense: { writeMillis: 20, readMillis: 50 },
};

const least = { share: 0.5, written: 20 } as const;

/**
 * Clients kept writing: of the writes that were begun at least half were acknowledged, with all elections, rollouts and
 * replacements in between. How many that is in a second depends on the machine, and is only shown.
 */
export function expectServed({ attempted, written }: Pick<Experience, 'attempted' | 'written'>): void {
  expect(written / attempted, `${written} of ${attempted} writes acknowledged`).toBeGreaterThanOrEqual(least.share);
  expect(written, 'acknowledged writes').toBeGreaterThanOrEqual(least.written);
}

/** For the title of a step. */
export const served = ({ attempted, written, perSecond, longestPause }: Experience): string =>
  `${written} of ${attempted} writes acknowledged, ${perSecond.toFixed(1)} a second, longest pause ${longestPause.toFixed(0)} ms`;

/**
 * A writer, a reader and a watcher that use a cluster while something happens to it. Afterwards no write that was
 * acknowledged may be missing, the reader must never have been told less than was acknowledged before it asked, and the
 * watcher must have seen every write.
 */
export async function underTraffic(
  cluster: DeclaredCluster,
  happen: () => Promise<void>,
  { dense = process.env['TRAFFIC'] === 'dense', seconds = 60 }: TrafficOptions = {},
): Promise<Experience> {
  const pace = paces[dense ? 'dense' : 'usual'];
  const began = performance.now();
  const stop = new AbortController();
  const acknowledged = new Map<string, string>();
  const heard: Heard = { keys: new Set(), backwards: [] };
  const pauses: number[] = [0];
  const clients = Promise.all([
    write(cluster, { acknowledged, pauses, pace }, stop.signal),
    read(cluster, { acknowledged, pace }, stop.signal),
    watch(cluster, { ...heard, pace }, stop.signal),
  ]);
  let unseen: readonly string[];
  try {
    await until('the first write', async () => acknowledged.size > 0 || undefined, { seconds });
    await happen();
    await until('a write after all that', writesAgain(acknowledged), { seconds });
    unseen = await unseenAfter(seconds, [...acknowledged.keys()], heard.keys);
  } catch (thrown) {
    if (thrown instanceof WaitTimeout) await lossBehind(thrown, cluster, acknowledged);
    throw thrown;
  } finally {
    stop.abort();
    await clients;
  }
  const [attempted] = await clients;
  const ran = (performance.now() - began) / 1000;
  expect(heard.backwards).toEqual([]);
  await nothingIsMissing(cluster, acknowledged);
  expect(unseen, 'writes that the watcher has not seen').toEqual([]);
  const written = acknowledged.size;
  return { attempted, written, perSecond: written / ran, longestPause: Math.max(...pauses) };
}

interface TrafficOptions {
  /** Where it is not said, as the environment has it: the full run is dense. */
  readonly dense?: boolean;
  /** How long each wait for the clients may take. */
  readonly seconds?: number;
}

/** Which of these writes the watcher has not seen when its time is up. That is judged, and no timeout: such a story runs again. */
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

/** A story whose wait ran out is run again. One that lost a write is not, so what can be read is looked at before. */
async function lossBehind(
  cause: WaitTimeout,
  cluster: DeclaredCluster,
  acknowledged: ReadonlyMap<string, string>,
): Promise<void> {
  await nothingIsMissing(cluster, new Map(acknowledged), 5).catch((thrown: unknown) => {
    if (isAssertion(thrown)) throw Object.assign(thrown as Error, { cause });
  });
}

function writesAgain(acknowledged: ReadonlyMap<string, string>): () => Promise<true | undefined> {
  const before = acknowledged.size;
  return async () => acknowledged.size > before || undefined;
}

async function nothingIsMissing(
  cluster: DeclaredCluster,
  acknowledged: ReadonlyMap<string, string>,
  seconds = 60,
): Promise<void> {
  const ask = (): Promise<readonly KeyValue[]> =>
    cluster.withMembers((members) =>
      Promise.any(members.map((member) => member.list({ key: 'traffic/', prefix: true }))),
    );
  const found = await until('all that was written is read', ask, { seconds });
  const values = new Map(found.map(({ key, value }) => [key, Buffer.from(value).toString()]));
  const missing = [...acknowledged].filter(([key, value]) => values.get(key) !== value);
  expect(missing, 'acknowledged writes that are missing').toEqual([]);
}

interface Notes {
  readonly acknowledged: Map<string, string>;
  readonly pauses: number[];
  readonly pace: Pace;
}

/** Writes one key after the other, to whichever member takes it, and returns how many it tried to write. */
async function write(
  cluster: DeclaredCluster,
  { acknowledged, pauses, pace }: Notes,
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

/** Asks for what was acknowledged last: the answer must be at least as new. */
async function read(
  cluster: DeclaredCluster,
  { acknowledged, pace }: Omit<Notes, 'pauses'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const newest = [...acknowledged].at(-1);
    let told: string | undefined = '';
    const answered =
      newest !== undefined &&
      (await anyMember(cluster, async (member) => {
        const pair = await member.get(newest[0], { timeoutMillis: 1000 });
        told = pair === undefined ? undefined : Buffer.from(pair.value).toString();
      }));
    if (answered) expect(told, `a read of ${newest[0]}`).toBe(newest[1]);
    await sleep(pace.readMillis, undefined, { signal }).catch(() => undefined);
  }
}

/** What the watcher heard, and what it heard after something newer. */
interface Heard {
  readonly keys: Set<string>;
  readonly backwards: string[];
}

/**
 * Watches from the first revision on, and goes on from where it was when its time is over, or at the next member when one is
 * gone. What had arrived and was not looked at when a watch was closed comes again with the next one.
 */
async function watch(
  cluster: DeclaredCluster,
  { keys, backwards, pace }: Heard & Pick<Notes, 'pace'>,
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

/** Tries the members one after the other; whether one of them did it. */
async function anyMember(
  cluster: DeclaredCluster,
  ask: (member: EtcdConnection) => Promise<unknown>,
): Promise<boolean> {
  return cluster
    .withMembers(async (members) => {
      for (const member of members) {
        const done = await ask(member).then(
          () => true,
          () => false, // the next one may do it; that nobody does shows in the writes
        );
        if (done) return true;
      }
      return false;
    })
    .catch(() => false);
}
