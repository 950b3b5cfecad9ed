import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { coreos } from '../dialects/coreos-v1beta2/dialect.ts';
import type { At, KubeObject, ObjectMeta } from '../kube/object.ts';
import { systemClock } from '../runtime/clock.ts';
import { clusterController } from './controller.ts';
import { makeLog } from './log.ts';

interface Kind {
  readonly plural: string;
}
interface Asked {
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

/** An API server with one cluster, whose watches show `changes` and never what the operator writes; `written` is told what it does. */
function serverWith(
  written: (what: string) => void,
  cluster: KubeObject = declared,
  changes: readonly KubeObject[] = [],
) {
  const write = (verb: string) => async (of: Kind, object: KubeObject & At) => {
    written(`${verb} ${of.plural} ${object.metadata?.name ?? object.name}`);
    return { ...object, metadata: { ...metadata, ...object.metadata, resourceVersion: '2' } };
  };
  return {
    pages: async function* ({ plural }: Kind) {
      yield { items: plural === 'etcdclusters' ? [cluster] : [], resourceVersion: '1' };
    },
    watch: async function* ({ plural }: Kind, { signal }: Asked) {
      for (const object of plural === 'etcdclusters' ? changes : []) {
        yield { type: 'MODIFIED', object };
        await sleep(20);
      }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
    ...{ create: write('create'), update: write('update'), patch: write('patch'), remove: write('remove') },
  };
}

interface Circumstances {
  readonly leads?: boolean;
  readonly isOurs?: boolean | ((cluster: ObjectMeta) => boolean);
  readonly cluster?: KubeObject;
  readonly changes?: readonly KubeObject[];
}

/** What the controller of clusters writes in its first moments. */
const writesWhen = async (given: Circumstances): Promise<readonly string[]> => (await seenWhen(given)).written;

async function seenWhen({ leads = true, isOurs = true, cluster, changes }: Circumstances) {
  const written: string[] = [];
  const stop = new AbortController();
  let outcomes = 0;
  const client = serverWith((what) => written.push(what), cluster, changes);
  const controller = clusterController(coreos, {
    ...{ client: client as never, clock: systemClock, scope: undefined, workers: 1 },
    ...{
      isOurs: typeof isOurs === 'boolean' ? () => isOurs : isOurs,
      identity: 'us',
      withBudgets: true,
      keepsSecrets: true,
      dropsSecrets: true,
    },
    ...{ wayTo: undefined, leads: () => leads, log: makeLog('silent'), onTrouble: () => undefined },
    onOutcome: () => void (outcomes += 1),
  });
  const running = controller.run([controller], stop.signal);
  await expect.poll(() => outcomes).toBeGreaterThan(2);
  await sleep(100);
  const remembered = controller.remembered();
  stop.abort();
  await running;
  return { written, remembered };
}

describe('a controller of clusters', () => {
  it('writes while it leads, and nothing twice as long as its copies do not show what it has written', async () => {
    const written = await writesWhen({});
    expect(written).toEqual(expect.arrayContaining(['create services db', 'create pods db-0']));
    const steps = written.filter((write) => !write.includes(' events '));
    expect(steps).toEqual([...new Set(steps)]);
  });

  it('writes nothing at all, not even an Event, when it does not lead', async () => {
    expect(await writesWhen({ leads: false })).toEqual([]);
  });

  it('writes one Event about a scope that no operator can have, however often the cluster changes', async () => {
    const annotations = { 'etcd.database.coreos.com/scope': 'cluster-wide' };
    const scoped = (version: number) => {
      return { ...declared, metadata: { ...metadata, annotations, resourceVersion: String(version) } };
    };
    const changes = [2, 3, 4, 5].map(scoped);
    const written = await writesWhen({ isOurs: false, cluster: scoped(1), changes });
    expect(written.map((write) => write.replace(/[^ ]+$/u, ''))).toEqual(['create events ']);
  });

  it('remembers of a cluster that was given a scope that no operator can have only what limits its Events', async () => {
    const annotations = { 'etcd.database.coreos.com/scope': 'cluster-wide' };
    const changes = [2, 3, 4, 5, 6, 7, 8].map((version) => {
      const scope = version < 5 ? {} : { annotations };
      return { ...declared, metadata: { ...metadata, ...scope, resourceVersion: String(version) } };
    });
    const isOurs = (of: ObjectMeta): boolean => of.annotations === undefined;
    const { written, remembered } = await seenWhen({ isOurs, changes });
    expect(written).toContain('create services db');
    const left = Object.entries(remembered).filter(([, size]) => size > 0);
    expect(left.map(([name]) => name)).toEqual(['events', 'warnings']);
  });
});
