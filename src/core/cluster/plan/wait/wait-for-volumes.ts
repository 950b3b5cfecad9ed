import type { GrowingVolume, KnownWorld } from '../../model/cluster.ts';
import { type Rule, wait } from '../step.ts';

/** Reports PVCs that are still being resized. Volumes grow under running members, so nothing else waits for them. */
export const waitForVolumes: Rule<KnownWorld> = ({ growingVolumes = [] }) => {
  const [first] = growingVolumes.toSorted((a, b) => Number(b.hasFailed) - Number(a.hasFailed));
  if (first === undefined) return undefined;
  const others = growingVolumes.length - 1;
  const message = `${messageFor(first)}${others === 0 ? '' : `; and ${others} more`}`;
  return first.hasFailed ? wait('VolumeStuck', message) : wait('VolumeGrowing', message);
};

const messageFor = ({ name, has, wanted, why }: GrowingVolume): string =>
  `resizing PersistentVolumeClaim ${name} from ${has} to ${wanted}${why === '' ? '' : ` (${why})`}`;
