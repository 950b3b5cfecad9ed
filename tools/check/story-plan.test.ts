import { describe, expect, it } from 'vitest';
import { etcdVersions } from '../programs/catalog.ts';
import { allStories, coreOnCluster, familyOf, isCore, turningPairs } from './story-plan.ts';

describe('the core stories on the cluster', async () => {
  const onCluster = turningPairs(await allStories()).filter(({ bed }) => bed === 'cluster');

  for (const [name, isIt] of Object.entries(coreOnCluster))
    it(`${name}: one story`, () => {
      expect(onCluster.filter(({ title }) => isIt(title)).map(({ title }) => title)).toHaveLength(1);
    });

  it('include the oldest and the newest etcd of the story that exists for every version', () => {
    expect(onCluster.filter(isCore)).toHaveLength(Object.keys(coreOnCluster).length);
    const family = onCluster.filter((pair) => familyOf(pair) !== undefined);
    expect(family).toHaveLength(etcdVersions.length);
    expect(family.filter(isCore)).toHaveLength(2);
  });
});
