import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { coreos } from '../../apis/coreos-v1beta2/dialect.ts';
import { RollTurns } from '../../controllers/cluster/roll-turns.ts';
import type { KubeObject, NamespacedName, ObjectMeta } from '../../kube/object.ts';
import { systemClock } from '../../runtime/clock.ts';
import { makeLog } from '../telemetry/log.ts';
import { clusterController } from './clusters.ts';

interface Kind {
  readonly plural: string;
}
interface WatchOptions {
  readonly signal: AbortSignal;
}

const metadata = { name: 'db', namespace: 'n', uid: 'u', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };
const declared = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { ...metadata, resourceVersion: '1' },
  spec: { size: 1, version: '3.6.16' },
  status: { bootstrap: { members: ['db-0'], token: 't' } },
};

/**
 * An API server with one cluster. Watches send `changes`, but no writes of the operator. Calls `written` for each
 * write.
 */
function serverWith(
  written: (what: string) => void,
  cluster: KubeObject = declared,
  changes: Iterable<KubeObject> = [],
) {
  const write = (verb: string) => async (of: Kind, object: KubeObject & NamespacedName) => {
    written(`${verb} ${of.plural} ${object.metadata?.name ?? object.name}`);
    return { ...object, metadata: { ...metadata, ...object.metadata, resourceVersion: '2' } };
  };
  return {
    pages: async function* ({ plural }: Kind) {
      yield { items: plural === 'etcdclusters' ? [cluster] : [], resourceVersion: '1' };
    },
    watch: async function* ({ plural }: Kind, { signal }: WatchOptions) {
      for (const object of plural === 'etcdclusters' ? changes : []) {
        yield { type: 'MODIFIED', object };
        await sleep(20);
      }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
    ...{ create: write('create'), update: write('update'), patch: write('patch'), remove: write('remove') },
  };
}

interface RunOptions {
  readonly leads?: boolean;
  readonly isOurs?: boolean | ((cluster: ObjectMeta) => boolean);
  readonly cluster?: KubeObject;
  readonly changes?: readonly KubeObject[];
  /** True once the controller has done what the test expects; it runs on for a moment. */
  readonly isDone?: (seen: Seen) => boolean;
}

interface Seen {
  readonly written: readonly string[];
  readonly remembered: Readonly<Record<string, number>>;
}

/** The first writes of the cluster controller. */
const writesWhen = async (given: RunOptions): Promise<readonly string[]> => (await seenWhen(given)).written;

async function seenWhen(given: RunOptions): Promise<Seen> {
  const { leads = true, isOurs = true, cluster, changes = [], isDone = () => true } = given;
  const written: string[] = [];
  const stop = new AbortController();
  let outcomes = 0;
  let isDelivered = false;
  const delivered = function* () {
    yield* changes;
    isDelivered = true;
  };
  const client = serverWith((what) => written.push(what), cluster, { [Symbol.iterator]: delivered });
  const controller = clusterController(coreos, {
    ...{ client: client as never, clock: systemClock, scope: undefined, workers: 1 },
    ...{
      isOurs: typeof isOurs === 'boolean' ? () => isOurs : isOurs,
      identity: 'us',
      withBudgets: true,
      mayWriteSecrets: true,
      mayDeleteSecrets: true,
    },
    ...{ dialerTo: undefined, leads: () => leads, log: makeLog('silent'), onFailure: () => undefined },
    rollTurns: new RollTurns(20, systemClock),
    onOutcome: () => void (outcomes += 1),
  });
  const running = controller.run([controller], stop.signal);
  await expect.poll(() => isDelivered && outcomes).toBeGreaterThan(2);
  await expect.poll(() => isDone({ written, remembered: controller.remembered() })).toBe(true);
  await sleep(100);
  const remembered = controller.remembered();
  stop.abort();
  await running;
  return { written, remembered };
}

describe('a cluster controller', () => {
  it('writes while it leads, and repeats no write while its caches do not show it', async () => {
    const written = await writesWhen({ isDone: (seen) => seen.written.includes('create pods db-0') });
    expect(written).toEqual(expect.arrayContaining(['create services db', 'create pods db-0']));
    const steps = written.filter((write) => !write.includes(' events '));
    expect(steps).toEqual([...new Set(steps)]);
  });

  it('writes nothing, not even an Event, while it does not lead', async () => {
    expect(await writesWhen({ leads: false })).toEqual([]);
  });

  it('records one Event about an unknown scope, however often the cluster changes', async () => {
    const annotations = { 'etcd.database.coreos.com/scope': 'cluster-wide' };
    const scoped = (version: number) => {
      return { ...declared, metadata: { ...metadata, annotations, resourceVersion: String(version) } };
    };
    const changes = [2, 3, 4, 5].map(scoped);
    const isDone = (seen: Seen): boolean => seen.written.length > 0;
    const written = await writesWhen({ isOurs: false, cluster: scoped(1), changes, isDone });
    expect(written.map((write) => write.replace(/[^ ]+$/u, ''))).toEqual(['create events ']);
  });

  it('keeps only the limits of Events in memory for a cluster with an unknown scope', async () => {
    const annotations = { 'etcd.database.coreos.com/scope': 'cluster-wide' };
    const changes = [2, 3, 4, 5, 6, 7, 8].map((version) => {
      const scope = version < 5 ? {} : { annotations };
      return { ...declared, metadata: { ...metadata, ...scope, resourceVersion: String(version) } };
    });
    const isOurs = (of: ObjectMeta): boolean => of.annotations === undefined;
    const namesIn = ({ remembered }: Seen): readonly string[] =>
      Object.entries(remembered).flatMap(([name, size]) => (size > 0 ? [name] : []));
    const isDone = (seen: Seen): boolean => namesIn(seen).join() === 'events,warnings';
    const seen = await seenWhen({ isOurs, changes, isDone });
    expect(seen.written).toContain('create services db');
    expect(namesIn(seen)).toEqual(['events', 'warnings']);
  });
});
