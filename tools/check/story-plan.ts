import { type Place, whyNotHere } from '../../test/support/place.ts';
import { shortStories } from '../../test/support/short-stories.ts';
import type { Declared } from '../../test/support/story-catalog.ts';
import { run } from '../lib/run.ts';
import { etcdVersions } from '../programs/catalog.ts';
import { type Choice, type Family, type Pair, pairsOf } from './choose.ts';
import { keyOf } from './ledger.ts';

/** All stories, read from their files by a process of its own. */
export async function allStories(): Promise<readonly Declared[]> {
  return JSON.parse(await run(process.execPath, ['tools/check/list-stories.ts'])) as readonly Declared[];
}

/** The stories of `make test`: one for each capability. */
export const shortChoice = (stories: readonly Declared[]): Choice =>
  everyStory(
    stories.filter(({ title }) => shortStories.includes(title)),
    'the lab',
  );

/** Every story that can be told there. */
export const everyStory = (stories: readonly Declared[], place: Place): Choice => {
  const bed = place === 'our cluster' ? 'cluster' : 'lab';
  return {
    core: stories
      .filter(({ where }) => whyNotHere(where, place) === undefined)
      .map((story) => ({ ...story, key: keyOf(story.title, bed), bed })),
    others: [],
  };
};

/** By turns, in `make check`. */
export const turningPairs = (stories: readonly Declared[]): readonly Pair[] => pairsOf(stories);

const isOfVersion = (version: string) => (title: string) =>
  title === `a cluster of etcd ${version} is created, grows, shrinks and heals`;

const begins = (words: string) => (title: string) => title.startsWith(words);

/** What only a real cluster can show, of each capability, in every check: each is true of one story. */
export const coreOnCluster: Readonly<Record<string, (title: string) => boolean>> = {
  'the oldest etcd': isOfVersion(etcdVersions[0]),
  'the newest etcd': isOfVersion(etcdVersions.at(-1) ?? ''),
  'the book': begins('the reader of the book sees what the book shows'),
  backups: begins('a backup is made once, to S3 and to a volume'),
  rights: begins('the operator uses every right that it is given for coreos'),
  nodes: begins('a node is stopped, is missed, and comes back'),
};

export const isCore = ({ bed, title }: Pair): boolean =>
  bed === 'cluster' && Object.values(coreOnCluster).some((isIt) => isIt(title));

/** One story told of every version: the oldest and the newest in every check, two of the others by turns. */
export const familyOf = ({ bed, title }: Pair): Family | undefined =>
  bed === 'cluster' && etcdVersions.some((version) => isOfVersion(version)(title))
    ? { name: 'create, scale, heal', atOnce: 2 }
    : undefined;
