import { keyOf, type Stored } from '../../../kube/object.ts';
import type { Store } from '../../../runtime/store.ts';
import type { ClusterObject } from '../../shared/context.ts';

/** The clusters of another API, whose Services would have the same names. */
export interface NameConflict {
  readonly group: string;
  readonly store: Pick<Store<ClusterObject>, 'get'>;
}

/**
 * Of two clusters with the same name, the older one keeps the name. The other is refused, and its objects are not
 * changed.
 */
export function refusalBeside(
  object: Stored<ClusterObject>,
  nameConflicts: readonly NameConflict[],
): string | undefined {
  const { metadata } = object;
  const nameConflict = nameConflicts.find(({ store }) => {
    const other = store.get(keyOf(metadata));
    return other !== undefined && isOlder(other, object);
  });
  if (nameConflict === undefined) return undefined;
  return `metadata.name: ${metadata.name} is taken by an EtcdCluster of ${nameConflict.group} in this namespace: choose another name`;
}

function isOlder(a: Stored<ClusterObject>, b: Stored<ClusterObject>): boolean {
  const [first, second] = [Date.parse(a.metadata.creationTimestamp), Date.parse(b.metadata.creationTimestamp)];
  return first === second ? a.apiVersion < b.apiVersion : first < second;
}
