import { describe, expect, it } from 'vitest';
import { allFaults, type Episode, type PlanSettings, planOf } from './plan.ts';

const everywhere = { has: ['pods', 'nodes', 'network'], changes: ['scale-up', 'none', 'upgrade'] } as const;

const episodes = (
  seed: number,
  count: number,
  settings: Omit<PlanSettings, 'seed'> = everywhere,
): readonly Episode[] => {
  const plan = planOf({ seed, ...settings });
  return Array.from({ length: count }, () => plan.next().value);
};

const seeds = Array.from({ length: 200 }, (_, seed) => seed);
const kindsOf = ({ faults }: Episode): readonly string[] => faults.map(({ kind }) => kind);

describe('a plan of faults', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(episodes(7, 20)).toEqual(episodes(7, 20));
    expect(episodes(7, 20)).not.toEqual(episodes(8, 20));
  });

  it('never loses the data of two members between two healings, nor during the creation', () => {
    for (const seed of seeds) {
      const plan = episodes(seed, 30);
      const losses = new Set(['delete-pvc', 'empty-volume']);
      const lost = plan.map((episode) => kindsOf(episode).filter((kind) => losses.has(kind)).length);
      expect([Math.max(...lost), lost[0]]).toEqual([1, 0]);
    }
  });

  it('has every kind of fault within twenty episodes, and no kind twice in one', () => {
    for (const seed of seeds) {
      const plan = episodes(seed, 20).map(kindsOf);
      expect(new Set(plan.flat())).toEqual(new Set(allFaults));
      expect(plan.every((kinds) => new Set(kinds).size === kinds.length && kinds.length > 0)).toBe(true);
    }
  });

  it('has only faults that the place has', () => {
    const kinds = new Set(seeds.flatMap((seed) => episodes(seed, 20, { has: ['pods'], changes: [] }).flatMap(kindsOf)));
    expect([...kinds].filter((kind) => /node/.test(kind))).toEqual([]);
  });

  it('begins with the creation, and repeats the changes in their order', () => {
    const changes = episodes(1, 6).map(({ change }) => change);
    expect(changes).toEqual(['create', 'scale-up', 'none', 'upgrade', 'scale-up', 'none']);
  });
});
