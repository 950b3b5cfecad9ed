import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/std/failure.ts';
import { carried } from './restore-tales.ts';
import type { SimulatedObjects } from './simulated-objects.ts';
import { SimulatedRestore, type Tale } from './simulated-restore.ts';

describe("a restore with the operator's credentials", () => {
  it.each([
    ['has none', { serviceAccountName: undefined }, 'start the operator with --store-secret'],
    ['waits for them', { secret: 'store' }, 'Secret \\"store\\" is not there: create it in namespace \\"home\\"'],
    ['has them for others', { urls: ['s3://other/'] }, 'only s3://other/ may be used'],
    ['does not say for whom', { urls: [] }, 'start the operator with --store-urls'],
  ])('waits where the operator %s, and makes nothing', async (_title, operators, says) => {
    const life = new SimulatedRestore({ ...carried, operators });
    await expect(life.run()).rejects.toThrow(says);
    expect(life.restore.status).toMatchObject({ phase: 'Pending' });
    expect([...life.objects.all('pods'), ...life.objects.all('secrets')]).toEqual([]);
  });

  it('says why, where the courier may not be made', async () => {
    const life = new SimulatedRestore(carried);
    const create = async (): Promise<never> => {
      throw new Failure('forbidden', 'error looking up service account home/reader');
    };
    Object.assign(life.objects, { writer: { ...life.objects.writer, create } });
    await expect(life.run()).rejects.toThrow('it does not end');
    expect(life.restore.status).toMatchObject({ phase: 'Pending', reason: expect.stringContaining('home/reader') });
    expect(life.told).toContain('RestoreBlocked');
  });

  it('needs no word of what may be read, where they are', async () => {
    const life = new SimulatedRestore({ ...carried, operators: { namespace: 'n', urls: [] } });
    await life.run();
    expect(life.restore.status).toMatchObject({ phase: 'Completed' });
  });

  it('gets another courier when one has ended, and those who read are told', async () => {
    const seen = new Set<string>();
    const contents = new Set<string>();
    const mishap: Tale['mishap'] = (objects) => {
      for (const secret of objects.all('secrets')) contents.add(JSON.stringify(secret['data' as never]));
      const courier = objects.all('pods').find(({ metadata: { name } }) => name.includes('-courier-'));
      if (courier?.status === undefined || seen.size >= 3 || seen.has(courier.metadata.uid)) return;
      seen.add(courier.metadata.uid);
      objects.put('pods', { ...courier, status: { phase: 'Failed', containerStatuses: [] } });
    };
    const life = new SimulatedRestore({ ...carried, mishap });
    await life.run();
    expect(seen.size).toBe(3);
    expect(life.restore.status).toMatchObject({ phase: 'Completed' });
    expect(life.objects.all('secrets')).toHaveLength(1);
    expect(contents.size).toBeGreaterThan(1);
  });

  it('that is deleted takes its courier along', async () => {
    const couriersSeen = new Set<string>();
    const mishap: Tale['mishap'] = (objects) => {
      const [restore] = objects.all('etcdrestores');
      for (const { uid } of couriersIn(objects)) couriersSeen.add(uid);
      const isBeingRead = objects.all('pods').some((pod) => JSON.stringify(pod).includes('"--courier"'));
      const deletionTimestamp = '2026-01-01T00:00:05Z';
      if (restore !== undefined && isBeingRead)
        objects.put('etcdrestores', { ...restore, metadata: { ...restore.metadata, deletionTimestamp } });
    };
    const life = new SimulatedRestore({ ...carried, mishap });
    await life.run();
    expect(life.restore.status).toMatchObject({ phase: 'Pending' });
    expect([couriersSeen.size, couriersIn(life.objects)]).toEqual([1, []]);
  });
});

const couriersIn = (objects: SimulatedObjects): readonly { readonly uid: string }[] =>
  objects
    .all('pods')
    .map(({ metadata }) => metadata)
    .filter(({ name }) => name.includes('-courier-'));
