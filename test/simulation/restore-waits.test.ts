import { describe, expect, it } from 'vitest';
import { failureOf } from '../../src/kube/errors.ts';
import { made, replaced } from './restore-tales.ts';
import type { SimulatedObjects } from './simulated-objects.ts';
import { SimulatedRestore, type Tale } from './simulated-restore.ts';

const stageOf = (objects: SimulatedObjects): unknown =>
  (objects.all('etcdrestores')[0]?.status as { readonly phase?: string } | undefined)?.phase;

/** Pods that are deleted are still there for so many passes. The API server says that they were deleted at this time. */
function stoppingFor(
  passes: number,
  deletionTimestamp = '2026-01-01T00:00:00Z',
): Tale & { readonly stopAt: (objects: SimulatedObjects) => void } {
  let left = passes;
  const mishap = (objects: SimulatedObjects): void => {
    const going = objects.all('pods').filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    if (going.length > 0 && left-- <= 0) objects.letGo();
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

/** How often each kind is listed while old members stop, which takes so many passes. */
async function listsWhileSwitching(passes: number): Promise<{ readonly lists: number; readonly status: unknown }> {
  const tale = stoppingFor(passes);
  const life = new SimulatedRestore(tale);
  tale.stopAt(life.objects);
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
  it('reads their pods alone, and lists those of the namespace every two seconds', async () => {
    const few = await listsWhileSwitching(1);
    const many = await listsWhileSwitching(81);
    expect(many.status).toMatchObject({ phase: 'Complete', clusterId: 'bbb' });
    expect(many.lists - few.lists).toBeGreaterThan(10); // a pass takes half a second here
    expect(many.lists - few.lists).toBeLessThanOrEqual(21);
  });

  it.each(['2025-12-31T23:00:00Z', '2026-01-01T01:00:00Z'])(
    'waits for a minute after their grace period, with a clock of the API server that says %s',
    async (deletionTimestamp) => {
      const tale = stoppingFor(Number.POSITIVE_INFINITY, deletionTimestamp);
      let waited = 0;
      const mishap = (objects: SimulatedObjects): void => {
        const isWaiting = JSON.stringify(objects.all('etcdrestores')).includes('waiting until the old members');
        if (isWaiting) waited += 0.5; // a pass takes half a second here
      };
      const life = new SimulatedRestore({ ...tale, mishap });
      tale.stopAt(life.objects);
      await life.run();
      expect(life.restore.status).toMatchObject({ phase: 'Complete' });
      expect(Math.abs(waited - 72)).toBeLessThanOrEqual(2);
    },
  );
});

describe('a restore whose EtcdCluster kind is not served', () => {
  const replacing = {
    ...made,
    restore: { ...made.restore, spec: { ...(made.restore['spec'] as object), replaceExisting: true } },
  };
  const says = (group: string) => `the kind EtcdCluster (${group}) is not served: install its CRD`;

  /** Answers the first four times that the path of EtcdClusters is unknown; gives what the status has said meanwhile. */
  function unserved(tale: Tale): { readonly life: SimulatedRestore; readonly said: readonly string[] } {
    const said: string[] = [];
    const mishap = (objects: SimulatedObjects): void => void said.push(JSON.stringify(objects.all('etcdrestores')));
    const life = new SimulatedRestore({ ...tale, mishap });
    const { client } = life.objects;
    const get = client.get.bind(client);
    let left = 4;
    client.get = (kind, at) =>
      kind.plural === 'etcdclusters' && left-- > 0
        ? Promise.reject(failureOf('get etcdclusters n/db', 404, { text: '404 page not found\n' }))
        : get(kind, at);
    return { life, said };
  }

  it.each([
    { how: 'into a cluster', tale: replaced, group: 'etcd.database.coreos.com' },
    { how: 'that makes a cluster', tale: made, group: 'etcd.improbable.io' },
    { how: 'that replaces or makes a cluster', tale: replacing, group: 'etcd.improbable.io' },
  ])('is blocked until the CRD is installed, if it is one $how', async ({ tale, group }) => {
    const { life, said } = unserved(tale);
    await life.run();
    expect(said.slice(0, 4).filter((status) => status.includes(says(group))).length).toBe(4);
    expect(life.told[0]).toBe('RestoreBlocked');
    expect(life.restore.status).toMatchObject({ clusterId: 'bbb' });
    expect(JSON.stringify(life.restore.status)).not.toContain('not served');
    expect(life.violations).toEqual([]);
  });
});
