/**
 * What the stories are told on. Where the lab was asked first, the cluster need not be asked all; and whoever is in a hurry
 * hears from the lab only those that are told everywhere.
 */
export type Place =
  | 'the lab'
  | 'the lab, in a hurry'
  | 'our cluster'
  | 'our cluster, after the lab'
  | 'another cluster';

/** Where a story is told. */
export type Where = 'everywhere' | 'in full' | 'as on the lab' | 'on clusters' | 'with nodes' | 'on our cluster';

/** The test cluster of ours that the stories run on, if they do. */
export const ourCluster = (): string | undefined => process.env['TEST_CLUSTER'] || undefined;

export const isOnTheLab = (): boolean => process.env['STORIES_ON'] === 'lab';

export function here(): Place {
  if (isOnTheLab()) return process.env['STORIES_OF_THE_LAB'] === 'all' ? 'the lab' : 'the lab, in a hurry';
  if (ourCluster() === undefined) return 'another cluster';
  return process.env['STORIES_TOLD'] === 'lab' ? 'our cluster, after the lab' : 'our cluster';
}

const elsewhere: Partial<Record<Place, string>> = {
  'our cluster, after the lab': 'the lab has told it',
  'the lab, in a hurry': 'make check tells it',
};

/** Why a story is left out, if it is. */
export function whyNotHere(where: Where, place: Place): string | undefined {
  switch (where) {
    case 'everywhere':
      return undefined;
    case 'in full':
      return place === 'the lab, in a hurry' ? elsewhere[place] : undefined;
    case 'as on the lab':
      return elsewhere[place];
    case 'on clusters':
      return place.startsWith('the lab') ? 'needs a cluster' : undefined;
    case 'with nodes':
      return place === 'another cluster' ? 'stops nodes' : whyNotHere('in full', place);
    case 'on our cluster':
      return place.startsWith('our cluster') ? undefined : 'needs our own test cluster';
    default:
      return where satisfies never;
  }
}
