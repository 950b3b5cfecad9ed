import { isOurs, type Memory } from './cluster.ts';
import type { MemberName } from './names.ts';

/** The annotations on a PVC that may outlive its cluster: the cluster ID and the voters. */
export interface VolumeRecord {
  readonly clusterId: string;
  /** The last known voters. */
  readonly members: readonly MemberName[];
}

export interface FoundVolume {
  readonly name: MemberName;
  /** Undefined on the PVC of a member that has not joined, and on PVCs that others created. */
  readonly record: VolumeRecord | undefined;
  /** True if the operator created the PVC, or adopted it with its member. */
  readonly isOurs: boolean;
}

/**
 * True if a PVC with a member's name belongs to another cluster or to a user. The PVC with the name of a voter is that
 * voter's PVC.
 */
export const belongsToAnother = (
  volume: FoundVolume,
  { clusterId, voters }: Pick<Memory, 'clusterId' | 'voters'>,
): boolean => {
  if (clusterId === undefined || voters.includes(volume.name)) return false;
  return volume.record === undefined ? !volume.isOurs : volume.record.clusterId !== clusterId;
};

/**
 * Restores the memory of a cluster from the records on its retained PVCs. A cluster that is created again continues
 * with the recorded cluster. If the PVCs belong to several clusters, the user has to choose.
 */
export function memoryFromVolumes(memory: Memory, volumes: readonly Pick<FoundVolume, 'name' | 'record'>[]): Memory {
  const recorded = volumes.flatMap(({ name, record }) => (record === undefined ? [] : [{ name, record }]));
  const [first, ...others] = recorded;
  if (first === undefined) return memory;
  if (isOurs(memory)) return { ...memory, voters: votersIn(memory, recorded) };
  const { clusterId } = first.record;
  const other = others.find(({ record }) => record.clusterId !== clusterId);
  if (other !== undefined) return { ...memory, ambiguity: ambiguityOf(first, other) };
  return { ...memory, clusterId, voters: votersIn({ clusterId, voters: [] }, recorded) };
}

/** The remembered voters; before a majority has answered, the voters that the PVCs record. */
function votersIn({ clusterId, voters }: Pick<Memory, 'clusterId' | 'voters'>, recorded: readonly Recorded[]) {
  if (voters.length > 0) return voters;
  return mostFrequent(
    recorded.filter(({ record }) => record.clusterId === clusterId).map(({ record }) => record.members),
  );
}

type Recorded = Pick<FoundVolume, 'name'> & { readonly record: VolumeRecord };

const ambiguityOf = (one: Recorded, other: Recorded): string =>
  `PVC of ${one.name} belongs to etcd cluster ${one.record.clusterId}, PVC of ${other.name} to etcd cluster ` +
  `${other.record.clusterId}: delete the PVCs of the wrong cluster; nothing else is changed until then`;

/** Some PVCs may lack the last change: the most frequent list wins; on a tie, the longest. */
function mostFrequent(lists: readonly VolumeRecord['members'][]): VolumeRecord['members'] {
  const groups = [...Map.groupBy(lists, (list) => list.join(' ')).values()];
  const [most] = groups.toSorted((a, b) => b.length - a.length || lengthOf(b) - lengthOf(a));
  return most?.[0] ?? [];
}

const lengthOf = ([list]: readonly VolumeRecord['members'][]): number => list?.length ?? 0;
