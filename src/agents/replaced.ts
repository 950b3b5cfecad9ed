import type { Manifest } from '../storage/manifest.ts';
import type { ObjectStore } from '../storage/store.ts';
import { manifestBeside } from './manifest-beside.ts';

type Saved = Pick<Manifest, 'cluster'> & { readonly clusterId: string };

interface Place {
  readonly store: ObjectStore;
  readonly key: string;
  readonly signal: AbortSignal;
}

/**
 * Two backups that were given one name take each other's place without anybody noticing, which loses data if they are of two
 * clusters. A store that does not let us look says nothing of it, and is no reason to make no backup.
 */
export async function doubtsOfReplacing(saved: Saved, { store, key, signal }: Place): Promise<readonly string[]> {
  const former = await manifestBeside(store, key, { signal, warnings: [] }).catch(() => undefined);
  if (former === undefined || isOfSame(saved, former)) return [];
  return [`"${key}" was a backup of ${nameOf(former)}, and is one of another cluster now: give each a name of its own`];
}

/** One that was restored has another number, and is the same to its users. */
function isOfSame({ cluster, clusterId }: Saved, former: Manifest): boolean {
  const isNamedSo =
    cluster !== undefined && cluster.name === former.cluster?.name && cluster.namespace === former.cluster.namespace;
  return clusterId === former.etcd.clusterId || isNamedSo;
}

const nameOf = ({ cluster, etcd }: Manifest): string =>
  cluster === undefined ? `etcd cluster ${etcd.clusterId}` : `EtcdCluster "${cluster.name}" in "${cluster.namespace}"`;
