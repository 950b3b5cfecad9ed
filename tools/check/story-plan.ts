import { type Place, skipReasonIn } from '../../test/support/place.ts';
import { shortStories } from '../../test/support/short-stories.ts';
import type { Declared } from '../../test/support/story-catalog.ts';
import { run } from '../lib/run.ts';
import { etcdVersions } from '../programs/catalog.ts';
import { type Choice, type Family, type Pair, pairsOf } from './choose.ts';
import { ledgerKey } from './ledger.ts';

/** All stories, listed by a separate process. */
export async function allStories(): Promise<readonly Declared[]> {
  return JSON.parse(await run(process.execPath, ['tools/check/list-stories.ts'])) as readonly Declared[];
}

/** The stories of `make test`: one for each capability. */
export const shortChoice = (stories: readonly Declared[]): Choice =>
  everyStory(
    stories.filter(({ title }) => shortStories.includes(title)),
    'the lab',
  );

/** Every story that can run in this place. */
export const everyStory = (stories: readonly Declared[], place: Place): Choice => {
  const bed = place === 'our cluster' ? 'cluster' : 'lab';
  return {
    core: stories
      .filter(({ where }) => skipReasonIn(where, place) === undefined)
      .map((story) => ({ ...story, key: ledgerKey(story.title, bed), bed })),
    others: [],
  };
};

/** The stories that run in turns, in `make check`. */
export const turningPairs = (stories: readonly Declared[]): readonly Pair[] => pairsOf(stories);

const isOfVersion = (version: string) => (title: string) =>
  title === `a cluster of etcd ${version} is created, scaled and healed`;

const begins = (words: string) => (title: string) => title.startsWith(words);

/** The stories of every check on a real cluster, one per capability. Each function matches one story. */
export const coreOnCluster: Readonly<Record<string, (title: string) => boolean>> = {
  'the oldest etcd': isOfVersion(etcdVersions[0]),
  'the newest etcd': isOfVersion(etcdVersions.at(-1) ?? ''),
  'the coreos walkthrough': begins('the commands of the book print what the book shows'),
  backups: begins('an EtcdBackup saves one snapshot to S3 or to a PVC'),
  rights: begins('the operator uses exactly the permissions of its Role for the coreos API'),
  nodes: begins('a stopped node becomes NotReady, and restarts its pods when it returns'),
};

export const isCore = ({ bed, title }: Pair): boolean =>
  bed === 'cluster' && Object.values(coreOnCluster).some((isIt) => isIt(title));

/**
 * The story that exists for every etcd version. The oldest and newest version run in every check, two others in turns.
 */
export const familyOf = ({ bed, title }: Pair): Family | undefined =>
  bed === 'cluster' && etcdVersions.some((version) => isOfVersion(version)(title))
    ? { name: 'create, scale, heal', atOnce: 2 }
    : undefined;
