import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { coreos } from '../dialects/coreos-v1beta2/dialect.ts';
import type { At, KubeObject } from '../kube/object.ts';
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

/** An API server with one cluster, whose watches never show what the operator writes; `written` is told what it does. */
function serverWith(written: (what: string) => void) {
  const write = (verb: string) => async (of: Kind, object: KubeObject & At) => {
    written(`${verb} ${of.plural} ${object.metadata?.name ?? object.name}`);
    return { ...object, metadata: { ...metadata, ...object.metadata, resourceVersion: '2' } };
  };
  return {
    pages: async function* ({ plural }: Kind) {
      yield { items: plural === 'etcdclusters' ? [declared] : [], resourceVersion: '1' };
    },
    watch: async function* (_: Kind, { signal }: Asked) {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      yield* [];
    },
    ...{ create: write('create'), update: write('update'), patch: write('patch'), remove: write('remove') },
  };
}

/** What the controller of clusters writes in its first moments, while this says whether it leads. */
async function writesWhile(leads: boolean): Promise<readonly string[]> {
  const written: string[] = [];
  const stop = new AbortController();
  let outcomes = 0;
  const controller = clusterController(coreos, {
    ...{ client: serverWith((what) => written.push(what)) as never, clock: systemClock, scope: undefined, workers: 1 },
    ...{ isOurs: () => true, identity: 'us', withBudgets: true, keepsSecrets: true, dropsSecrets: true },
    ...{ wayTo: undefined, leads: () => leads, log: makeLog('silent'), onTrouble: () => undefined },
    onOutcome: () => void (outcomes += 1),
  });
  const running = controller.run([controller], stop.signal);
  await expect.poll(() => outcomes).toBeGreaterThan(2);
  await sleep(100);
  stop.abort();
  await running;
  return written;
}

describe('a controller of clusters', () => {
  it('writes while it leads, and nothing twice as long as its copies do not show what it has written', async () => {
    const written = await writesWhile(true);
    expect(written).toEqual(expect.arrayContaining(['create services db', 'create pods db-0']));
    const steps = written.filter((write) => !write.includes(' events '));
    expect(steps).toEqual([...new Set(steps)]);
  });

  it('writes nothing at all, not even an Event, when it does not lead', async () => {
    expect(await writesWhile(false)).toEqual([]);
  });
});
