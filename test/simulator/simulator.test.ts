import { describe, expect, it } from 'vitest';
import { live } from './life/life.ts';
import { foundDefects } from './seeds.ts';

describe('a simulated life', () => {
  it('has the same trace each time it runs with the same seed', async () => {
    const [first, second] = [await live(12, { isTraced: true }), await live(12, { isTraced: true })];
    expect(first.trace.length).toBeGreaterThan(50);
    expect(second).toEqual(first);
  });

  it('has another trace with another seed', async () => {
    const [first, second] = [await live(12, { isTraced: true }), await live(13, { isTraced: true })];
    expect(second.trace).not.toEqual(first.trace);
  });
});

describe('a life that has shown a defect', () => {
  it.each(Object.entries(foundDefects))('stays without a broken invariant: seed %s, %s', async (seed) => {
    const { violations } = await live(Number(seed));
    expect(violations).toEqual([]);
  });
});
