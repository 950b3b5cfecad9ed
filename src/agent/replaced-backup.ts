import type { SnapshotManifest } from '../objectstore/manifest.ts';
import type { ObjectStore } from '../objectstore/store.ts';
import { manifestBeside } from './manifest-beside.ts';

type Saved = Pick<SnapshotManifest, 'cluster'> & { readonly clusterId: string };

interface ObjectLocation {
  readonly store: ObjectStore;
  readonly key: string;
  readonly signal: AbortSignal;
}

/**
 * Warns if this backup overwrites the backup of another cluster, which would be lost unnoticed. If the old manifest
 * cannot be read, there is no warning, and the backup goes on.
 */
export async function replacementWarnings(
  saved: Saved,
  { store, key, signal }: ObjectLocation,
): Promise<readonly string[]> {
  const former = await manifestBeside(store, key, { signal, warnings: [] }).catch(() => undefined);
  if (former === undefined || isOfSame(saved, former)) return [];
  return [
    `object "${key}" was a backup of ${nameOf(former)} and is overwritten by a backup of another cluster: use a different URL for each cluster`,
  ];
}

/** True for the same cluster id, or the same EtcdCluster: a restored cluster has a new id. */
function isOfSame({ cluster, clusterId }: Saved, former: SnapshotManifest): boolean {
  const hasSameName =
    cluster !== undefined && cluster.name === former.cluster?.name && cluster.namespace === former.cluster.namespace;
  return clusterId === former.etcd.clusterId || hasSameName;
}

const nameOf = ({ cluster, etcd }: SnapshotManifest): string =>
  cluster === undefined ? `etcd cluster ${etcd.clusterId}` : `EtcdCluster "${cluster.name}" in "${cluster.namespace}"`;
