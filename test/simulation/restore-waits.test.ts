import { describe, expect, it } from 'vitest';
import { failureOfAnswer } from '../../src/kube/errors.ts';
import { createdByRestore, replaced } from './restore-scenarios.ts';
import type { SimulatedObjects } from './simulated-objects.ts';
import { type Scenario, SimulatedRestore } from './simulated-restore.ts';

const stageOf = (objects: SimulatedObjects): unknown =>
  (objects.all('etcdrestores')[0]?.status as { readonly phase?: string } | undefined)?.phase;

/** Deleted pods stay terminating for some passes, with the given deletionTimestamp. */
function stoppingFor(
  passes: number,
  deletionTimestamp = '2026-01-01T00:00:00Z',
): Scenario & { readonly stopAt: (objects: SimulatedObjects) => void } {
  let left = passes;
  const mishap = (objects: SimulatedObjects): void => {
    const going = objects.all('pods').filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    if (going.length > 0 && left-- <= 0) objects.removeTerminating();
  };
  const stopAt = (objects: SimulatedObjects): void => {
    const { remove } = objects.writer;
    objects.writer.remove = async (kind, at) => {
      const pod = kind.plural === 'pods' ? objects.find('pods', at.name) : undefined;
      if (pod === undefined) return remove(kind, at);
      const metadata = { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 10 };
      objects.put('pods', { ...pod, metadata });
    };
  };
  return { ...replaced, mishap, stopAt };
}

/** Counts lists of pods while old members stop, which takes `passes` passes. */
async function listsWhileSwitching(passes: number): Promise<{ readonly lists: number; readonly status: unknown }> {
  const scenario = stoppingFor(passes);
  const life = new SimulatedRestore(scenario);
  scenario.stopAt(life.objects);
  const { list } = life.objects.client;
  let lists = 0;
  life.objects.client.list = (kind) => {
    if (kind.plural === 'pods' && stageOf(life.objects) === 'Switching') lists++;
    return list(kind);
  };
  await life.run();
  return { lists, status: life.restore.status };
}

describe('a restore that waits for old members to stop', () => {
  it('reads only the pods of old members, and lists the namespace every two seconds', async () => {
    const few = await listsWhileSwitching(1);
    const many = await listsWhileSwitching(81);
    expect(many.status).toMatchObject({ phase: 'Complete', clusterId: 'bbb' });
    expect(many.lists - few.lists).toBeGreaterThan(10); // a pass takes half a second here
    expect(many.lists - few.lists).toBeLessThanOrEqual(21);
  });

  it.each(['2025-12-31T23:00:00Z', '2026-01-01T01:00:00Z'])(
    'waits for a minute after their grace period, also with a skewed deletionTimestamp %s',
    async (deletionTimestamp) => {
      const scenario = stoppingFor(Number.POSITIVE_INFINITY, deletionTimestamp);
      let waited = 0;
      const mishap = (objects: SimulatedObjects): void => {
        const isWaiting = JSON.stringify(objects.all('etcdrestores')).includes('waiting for old members to stop');
        if (isWaiting) waited += 0.5; // a pass takes half a second here
      };
      const life = new SimulatedRestore({ ...scenario, mishap });
      scenario.stopAt(life.objects);
      await life.run();
      expect(life.restore.status).toMatchObject({ phase: 'Complete' });
      expect(Math.abs(waited - 72)).toBeLessThanOrEqual(2);
    },
  );
});

describe('a restore whose EtcdCluster kind is not served', () => {
  const replacing = {
    ...createdByRestore,
    restore: {
      ...createdByRestore.restore,
      spec: { ...(createdByRestore.restore['spec'] as object), replaceExisting: true },
    },
  };
  const messageFor = (group: string) => `the kind EtcdCluster (${group}) is not served: install its CRD`;

  /** The first four reads of EtcdClusters fail with an unknown path. Collects the EtcdRestore after each pass. */
  function notServed(scenario: Scenario): { readonly life: SimulatedRestore; readonly passes: readonly string[] } {
    const passes: string[] = [];
    const mishap = (objects: SimulatedObjects): void => void passes.push(JSON.stringify(objects.all('etcdrestores')));
    const life = new SimulatedRestore({ ...scenario, mishap });
    const { client } = life.objects;
    const get = client.get.bind(client);
    let left = 4;
    client.get = (kind, at) =>
      kind.plural === 'etcdclusters' && left-- > 0
        ? Promise.reject(failureOfAnswer('get etcdclusters n/db', 404, { text: '404 page not found\n' }))
        : get(kind, at);
    return { life, passes };
  }

  it.each([
    { kind: 'a restore in place', scenario: replaced, group: 'etcd.database.coreos.com' },
    { kind: 'a restore into a new cluster', scenario: createdByRestore, group: 'etcd.improbable.io' },
    { kind: 'a restore with replaceExisting', scenario: replacing, group: 'etcd.improbable.io' },
  ])('is blocked until the CRD is installed: $kind', async ({ scenario, group }) => {
    const { life, passes } = notServed(scenario);
    await life.run();
    expect(passes.slice(0, 4).filter((restore) => restore.includes(messageFor(group))).length).toBe(4);
    expect(life.eventReasons[0]).toBe('RestoreBlocked');
    expect(life.restore.status).toMatchObject({ clusterId: 'bbb' });
    expect(JSON.stringify(life.restore.status)).not.toContain('not served');
    expect(life.violations).toEqual([]);
  });
});
