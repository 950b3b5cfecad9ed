import { describe, expect, it } from 'vitest';
import { etcdVersions } from '../programs/catalog.ts';
import { allStories, coreOnCluster, familyOf, isCore, turningPairs } from './story-plan.ts';

describe('the stories that every check tells on the cluster', async () => {
  const onCluster = turningPairs(await allStories()).filter(({ bed }) => bed === 'cluster');

  for (const [name, isIt] of Object.entries(coreOnCluster))
    it(`${name}: one story`, () => {
      expect(onCluster.filter(({ title }) => isIt(title)).map(({ title }) => title)).toHaveLength(1);
    });

  it('are those of the core, which is the oldest and the newest etcd of a story told of every version', () => {
    expect(onCluster.filter(isCore)).toHaveLength(Object.keys(coreOnCluster).length);
    const family = onCluster.filter((pair) => familyOf(pair) !== undefined);
    expect(family).toHaveLength(etcdVersions.length);
    expect(family.filter(isCore)).toHaveLength(2);
  });
});
