/** The place where stories run. */
export type Place = 'the lab' | 'our cluster' | 'another cluster';

/** The places in which a story may run. */
export type Where = 'everywhere' | 'in full' | 'as on the lab' | 'on clusters' | 'with nodes' | 'on our cluster';

/** The name of our test cluster, if the stories run on it. */
export const ourCluster = (): string | undefined => process.env['TEST_CLUSTER'] || undefined;

export const isOnTheLab = (): boolean => process.env['STORIES_ON'] === 'lab';

export function currentPlace(): Place {
  if (isOnTheLab()) return 'the lab';
  return ourCluster() === undefined ? 'another cluster' : 'our cluster';
}

/** The reason for which a story is left out in a place; undefined if it runs. */
export function skipReasonIn(where: Where, place: Place): string | undefined {
  switch (where) {
    case 'everywhere':
    case 'in full':
    case 'as on the lab':
      return undefined;
    case 'on clusters':
      return place === 'the lab' ? 'needs a cluster' : undefined;
    case 'with nodes':
      return place === 'another cluster' ? 'stops nodes' : undefined;
    case 'on our cluster':
      return place === 'our cluster' ? undefined : 'needs our own test cluster';
    default:
      return where satisfies never;
  }
}
