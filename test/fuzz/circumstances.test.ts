import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FuzzBench } from './judge.ts';
import { collectionPath, kinds, objectWith, titleOf } from './kinds.ts';
import { namespace } from './lab-api.ts';

/** Valid objects in circumstances that no field of theirs brings about. */

const worked = kinds.filter(({ role }) => role !== 'peer').map((kind) => [titleOf(kind), kind] as const);

describe('an object that is deleted and held by a foreign finalizer', () => {
  let bench: FuzzBench;
  beforeAll(async () => void (bench = await FuzzBench.start()));
  afterAll(() => bench.close());

  it.each(worked)('is left alone: %s', async (_title, kind) => {
    const operator = bench.operator({ isShared: false });
    for (const spec of kind.specs) {
      bench.reset();
      await bench.api.post(collectionPath(kind), objectWith(kind, spec, { finalizers: ['example.com/wait'] }));
      await bench.api.send({ method: 'DELETE', path: `${collectionPath(kind)}/db` });
      expect(bench.stored({ kind }, 'db')).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
      await operator.work(kind, 'db');
      expect(operator.seen).toMatchObject({ writes: [], refusals: [], events: [] });
    }
  });
});

describe('an object in a namespace that is being deleted', () => {
  let bench: FuzzBench;
  beforeAll(async () => {
    bench = await FuzzBench.start();
    for (const [, kind] of worked)
      for (const [index, spec] of kind.specs.entries())
        await bench.api.post(collectionPath(kind), objectWith(kind, spec, { name: `db-${index}` }));
    await bench.api.send({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
  });
  afterAll(() => bench.close());

  it.each(worked)('says so, and is not worked on without end: %s', async (_title, kind) => {
    const operator = bench.operator({ isShared: false });
    for (const name of kind.specs.map((_, index) => `db-${index}`)) {
      await operator.work(kind, name);
      const { events, refusals } = operator.seen;
      const told = [...events.map(({ message }) => message), JSON.stringify(bench.stored({ kind }, name))].join('\n');
      if (refusals.length > 0) expect(told).toContain('because it is being terminated');
      expect(told).not.toContain('unexpected');
      expect(await operator.writesForEver(kind, name)).toEqual([]);
    }
  });
});
