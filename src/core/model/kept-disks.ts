import { isOurs, type Memory } from './cluster.ts';
import type { CarrierName } from './names.ts';

/** What stands on a disk that may outlive its cluster, for whoever finds it: whose it is, and who the others were. */
export interface DiskMark {
  readonly clusterId: string;
  /** The voters, when that was last known. */
  readonly members: readonly CarrierName[];
}

export interface FoundDisk {
  readonly name: CarrierName;
  /** Not there on the disk of one who had not joined yet, or that was made by somebody else. */
  readonly mark: DiskMark | undefined;
  /** We have made it, or taken it over with its member. */
  readonly isOurs: boolean;
}

/**
 * Whether a disk never was this cluster's: somebody has brought it here, or another cluster of the name has left it. Under the
 * name of a voter it is that voter's, until etcd says otherwise.
 */
export const isStrangers = (disk: FoundDisk, { clusterId, voters }: Pick<Memory, 'clusterId' | 'voters'>): boolean => {
  if (clusterId === undefined || voters.includes(disk.name)) return false;
  return disk.mark === undefined ? !disk.isOurs : disk.mark.clusterId !== clusterId;
};

/**
 * What a cluster that has just been declared knows from the disks that were left under its name. Whatever stands on them
 * was a cluster, and goes on; where they speak of several, only a person can say which of them is meant.
 */
export function recalled(memory: Memory, disks: readonly Pick<FoundDisk, 'name' | 'mark'>[]): Memory {
  const marked = disks.flatMap(({ name, mark }) => (mark === undefined ? [] : [{ name, mark }]));
  const [first, ...others] = marked;
  if (first === undefined) return memory;
  if (isOurs(memory)) return { ...memory, voters: votersIn(memory, marked) };
  const { clusterId } = first.mark;
  const other = others.find(({ mark }) => mark.clusterId !== clusterId);
  if (other !== undefined) return { ...memory, doubt: doubtAbout(first, other) };
  return { ...memory, clusterId, voters: votersIn({ clusterId, voters: [] }, marked) };
}

/** Until a majority has answered, its disks are all that a cluster knows its members by. */
function votersIn({ clusterId, voters }: Pick<Memory, 'clusterId' | 'voters'>, marked: readonly Marked[]) {
  if (voters.length > 0) return voters;
  return mostSaid(marked.filter(({ mark }) => mark.clusterId === clusterId).map(({ mark }) => mark.members));
}

type Marked = Pick<FoundDisk, 'name'> & { readonly mark: DiskMark };

const doubtAbout = (one: Marked, other: Marked): string =>
  `the volume of ${one.name} is of cluster ${one.mark.clusterId}, that of ${other.name} of cluster ` +
  `${other.mark.clusterId}: delete the claims that are not meant, and nothing else is touched until then`;

/** Somebody may not have heard of the last change; among equals, those who know of more. */
function mostSaid(lists: readonly DiskMark['members'][]): DiskMark['members'] {
  const groups = [...Map.groupBy(lists, (list) => list.join(' ')).values()];
  const [most] = groups.toSorted((a, b) => b.length - a.length || lengthOf(b) - lengthOf(a));
  return most?.[0] ?? [];
}

const lengthOf = ([list]: readonly DiskMark['members'][]): number => list?.length ?? 0;
