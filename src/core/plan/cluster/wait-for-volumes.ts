import type { GrowingDisk } from '../../model/cluster.ts';
import { type Rule, wait } from './step.ts';

/** Volumes grow under members that run, and nobody waits for them with anything else: only that they have not is said. */
export const waitForVolumes: Rule = ({ growingDisks = [] }) => {
  const [first] = growingDisks.toSorted((a, b) => Number(b.hasFailed) - Number(a.hasFailed));
  if (first === undefined) return undefined;
  const others = growingDisks.length - 1;
  const says = `${sentenceOn(first)}${others === 0 ? '' : `; and ${others} more`}`;
  return first.hasFailed ? wait('VolumeStuck', says) : wait('VolumeGrowing', says);
};

const sentenceOn = ({ name, has, wanted, why }: GrowingDisk): string =>
  `PersistentVolumeClaim ${name} is asked for ${wanted} and has ${has}${why === '' ? '' : ` (${why})`}`;
