/** What the stories are told on. Where the lab was asked first, the cluster need not be asked all. */
export type Place = 'the lab' | 'our cluster' | 'our cluster, after the lab' | 'another cluster';

/** Where a story is told. */
export type Where = 'everywhere' | 'as on the lab' | 'on clusters' | 'on our cluster';

/** The test cluster of ours that the stories run on, if they do. */
export const ourCluster = (): string | undefined => process.env['TEST_CLUSTER'] || undefined;

export const isOnTheLab = (): boolean => process.env['STORIES_ON'] === 'lab';

export function here(): Place {
  if (isOnTheLab()) return 'the lab';
  if (ourCluster() === undefined) return 'another cluster';
  return process.env['STORIES_TOLD'] === 'lab' ? 'our cluster, after the lab' : 'our cluster';
}

/** Why a story is left out, if it is. */
export function whyNotHere(where: Where, place: Place): string | undefined {
  switch (where) {
    case 'everywhere':
      return undefined;
    case 'as on the lab':
      return place === 'our cluster, after the lab' ? 'the lab has told it' : undefined;
    case 'on clusters':
      return place === 'the lab' ? 'needs a cluster' : undefined;
    case 'on our cluster':
      return place.startsWith('our cluster') ? undefined : 'needs our own test cluster';
    default:
      return where satisfies never;
  }
}
