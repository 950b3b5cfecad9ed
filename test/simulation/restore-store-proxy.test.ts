import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/std/failure.ts';
import { viaStoreProxy } from './restore-scenarios.ts';
import type { SimulatedObjects } from './simulated-objects.ts';
import { type Scenario, SimulatedRestore } from './simulated-restore.ts';

describe("a restore with the operator's credentials", () => {
  it.each([
    ['has no credentials', { serviceAccountName: undefined }, 'start the operator with --store-secret'],
    ['lacks its Secret', { secret: 'store' }, 'Secret \\"store\\" does not exist: create it in namespace \\"home\\"'],
    ['allows other URLs only', { urls: ['s3://other/'] }, 'may be used only for s3://other/'],
    ['allows no URLs', { urls: [] }, 'start the operator with --store-urls'],
  ])('waits and creates nothing if the operator %s', async (_title, operators, message) => {
    const life = new SimulatedRestore({ ...viaStoreProxy, operators });
    await expect(life.run()).rejects.toThrow(message);
    expect(life.restore.status).toMatchObject({ phase: 'Pending' });
    expect([...life.objects.all('pods'), ...life.objects.all('secrets')]).toEqual([]);
  });

  it('reports RestoreBlocked if the store proxy pod is forbidden', async () => {
    const life = new SimulatedRestore(viaStoreProxy);
    const create = async (): Promise<never> => {
      throw new Failure('forbidden', 'error looking up service account home/reader');
    };
    Object.assign(life.objects, { writer: { ...life.objects.writer, create } });
    await expect(life.run()).rejects.toThrow('the restore does not finish');
    expect(life.restore.status).toMatchObject({ phase: 'Pending', reason: expect.stringContaining('home/reader') });
    expect(life.eventReasons).toContain('RestoreBlocked');
  });

  it('starts the store proxy in steps of its plan, before the backup is checked', async () => {
    const life = new SimulatedRestore(viaStoreProxy);
    await life.run();
    expect(life.steps.kinds.slice(0, 4)).toEqual([
      'start-store-proxy',
      'identify-store-proxy',
      'publish-store-proxy',
      'prove',
    ]);
  });

  it("in the operator's namespace needs no --store-urls", async () => {
    const life = new SimulatedRestore({ ...viaStoreProxy, operators: { namespace: 'n', urls: [] } });
    await life.run();
    expect(life.restore.status).toMatchObject({ phase: 'Completed' });
  });

  it('gets a new store proxy with new access data when one has ended', async () => {
    const seen = new Set<string>();
    const contents = new Set<string>();
    const mishap: Scenario['mishap'] = (objects) => {
      for (const secret of objects.all('secrets')) contents.add(JSON.stringify(secret['data' as never]));
      const storeProxy = objects.all('pods').find(({ metadata: { name } }) => name.includes('-store-proxy-'));
      if (storeProxy?.status === undefined || seen.size >= 3 || seen.has(storeProxy.metadata.uid)) return;
      // The last one ends after agents have its address, so that the address is replaced.
      const isPublished = objects.all('secrets').some(({ metadata }) => metadata.namespace === 'n');
      if (seen.size === 2 && !isPublished) return;
      seen.add(storeProxy.metadata.uid);
      objects.put('pods', { ...storeProxy, status: { phase: 'Failed', containerStatuses: [] } });
    };
    const life = new SimulatedRestore({ ...viaStoreProxy, mishap });
    await life.run();
    expect(seen.size).toBe(3);
    expect(life.restore.status).toMatchObject({ phase: 'Completed' });
    expect(life.objects.all('secrets')).toHaveLength(1);
    expect(contents.size).toBeGreaterThan(1);
    expect(life.objects.unguarded).toEqual([]);
  });

  it('deletes its store proxy when the EtcdRestore is deleted', async () => {
    const storeProxiesSeen = new Set<string>();
    const mishap: Scenario['mishap'] = (objects) => {
      const [restore] = objects.all('etcdrestores');
      for (const { uid } of storeProxiesIn(objects)) storeProxiesSeen.add(uid);
      const isBeingRead = objects.all('pods').some((pod) => JSON.stringify(pod).includes('"--store-proxy"'));
      const deletionTimestamp = '2026-01-01T00:00:05Z';
      if (restore !== undefined && isBeingRead)
        objects.put('etcdrestores', { ...restore, metadata: { ...restore.metadata, deletionTimestamp } });
    };
    const life = new SimulatedRestore({ ...viaStoreProxy, mishap });
    await life.run();
    expect(life.restore.status).toMatchObject({ phase: 'Pending' });
    expect([storeProxiesSeen.size, storeProxiesIn(life.objects)]).toEqual([1, []]);
  });
});

const storeProxiesIn = (objects: SimulatedObjects): readonly { readonly uid: string }[] =>
  objects
    .all('pods')
    .map(({ metadata }) => metadata)
    .filter(({ name }) => name.includes('-store-proxy-'));
