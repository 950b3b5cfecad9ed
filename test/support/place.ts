/** What the stories are told on. */
export type Place = 'the lab' | 'our cluster' | 'another cluster';

/** Where a story is told. */
export type Where = 'everywhere' | 'in full' | 'as on the lab' | 'on clusters' | 'with nodes' | 'on our cluster';

/** The test cluster of ours that the stories run on, if they do. */
export const ourCluster = (): string | undefined => process.env['TEST_CLUSTER'] || undefined;

export const isOnTheLab = (): boolean => process.env['STORIES_ON'] === 'lab';

export function here(): Place {
  if (isOnTheLab()) return 'the lab';
  return ourCluster() === undefined ? 'another cluster' : 'our cluster';
}

/** Why a story is left out, if it is. */
export function whyNotHere(where: Where, place: Place): string | undefined {
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
