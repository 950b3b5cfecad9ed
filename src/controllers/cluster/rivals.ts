import { keyOf, type Stored } from '../../kube/object.ts';
import type { Store } from '../../runtime/store.ts';
import type { ClusterObject } from './sources.ts';

/** The clusters of another API, whose services would have the names of ours. */
export interface Rival {
  readonly group: string;
  readonly store: Pick<Store<ClusterObject>, 'get'>;
}

/** Of two clusters of one name the one that came first has it; the other is told so, and nothing of it is touched. */
export function refusalBeside(object: Stored<ClusterObject>, rivals: readonly Rival[]): string | undefined {
  const { metadata } = object;
  const rival = rivals.find(({ store }) => {
    const other = store.get(keyOf(metadata));
    return other !== undefined && cameBefore(other, object);
  });
  if (rival === undefined) return undefined;
  return `metadata.name: ${metadata.name} is taken by an EtcdCluster of ${rival.group} in this namespace: choose another name`;
}

function cameBefore(a: Stored<ClusterObject>, b: Stored<ClusterObject>): boolean {
  const [first, second] = [Date.parse(a.metadata.creationTimestamp), Date.parse(b.metadata.creationTimestamp)];
  return first === second ? a.apiVersion < b.apiVersion : first < second;
}
