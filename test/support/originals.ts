import { hexOf } from '../../src/etcd/types.ts';
import type { Api } from './apis.ts';
import { type DeclaredCluster, declaredIn } from './cluster.ts';
import type { Kubectl } from './kubectl.ts';
import type { ClientAccess } from './member-endpoints.ts';
import type { StoryContext } from './story.ts';

/** A Kubernetes object as an original operator creates it. */
export interface OriginalObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: object } & Readonly<Record<string, unknown>>;
  readonly spec: object;
}

export interface OriginalCluster {
  readonly name: string;
  readonly size: number;
  readonly version: string;
  /** More fields of its spec. */
  readonly extra?: object;
  /** Its pods run without etcd, so that no member answers. */
  readonly silent?: boolean;
  /** Its members have PVCs, in the API where PVCs are optional. */
  readonly durable?: boolean;
  /** The client access of a cluster with TLS. The Secrets must exist. */
  readonly access?: ClientAccess;
}

export interface OwnedCluster extends OriginalCluster {
  readonly namespace: string;
  /** A reference to the EtcdCluster. */
  readonly owner: object;
}

/** The objects and the status that an original operator creates for a cluster. */
export interface Original {
  readonly api: Api;
  readonly memberNames: (cluster: OriginalCluster) => readonly string[];
  readonly spec: (cluster: OriginalCluster) => object;
  readonly objects: (cluster: OwnedCluster, names: readonly string[]) => readonly OriginalObject[];
  /** Objects that the EtcdPeers own, by the UIDs of the EtcdPeers. */
  readonly objectsOfPeers?: (
    cluster: OwnedCluster,
    names: readonly string[],
    uidOf: (peer: string) => string,
  ) => readonly OriginalObject[];
  readonly status: (names: readonly string[], cluster: OriginalCluster, ids: ReadonlyMap<string, string>) => object;
}

type InNamespace = Pick<StoryContext, 'kubectl' | 'namespace'>;

/** Creates a cluster as an original operator does, without an operator, and waits until it serves. */
export async function createOriginal(
  original: Original,
  cluster: OriginalCluster,
  place: InNamespace,
): Promise<DeclaredCluster> {
  const { kubectl } = place;
  const names = original.memberNames(cluster);
  await makeObjects(original, cluster, place);
  const db = declaredIn(original.api)(kubectl, cluster.name, cluster.access);
  const ids = cluster.silent === true ? new Map<string, string>() : await idsOf(db, cluster.size, kubectl);
  const status = JSON.stringify({ status: original.status(names, cluster, ids) });
  await kubectl(`patch ${db.resource} --subresource=status --type=merge -p '${status}'`);
  return db;
}

async function makeObjects(
  original: Original,
  cluster: OriginalCluster,
  { kubectl, namespace }: InNamespace,
): Promise<void> {
  const { api } = original;
  const { name } = cluster;
  const names = original.memberNames(cluster);
  const declared = { apiVersion: api.apiVersion, kind: 'EtcdCluster', metadata: { name } };
  await applyAll(kubectl, [{ ...declared, spec: { ...original.spec(cluster), ...cluster.extra } }]);
  const uid = await uidOf(`${api.resource}/${name}`, kubectl);
  const owned = { ...cluster, namespace, owner: { apiVersion: api.apiVersion, kind: 'EtcdCluster', name, uid } };
  await applyAll(kubectl, original.objects(owned, names));
  if (original.objectsOfPeers === undefined) return;
  const uids = new Map<string, string>();
  for (const peer of names) uids.set(peer, await uidOf(`etcdpeers.etcd.improbable.io/${peer}`, kubectl));
  await applyAll(
    kubectl,
    original.objectsOfPeers(owned, names, (peer) => uids.get(peer) ?? ''),
  );
}

/** The member IDs, once all members serve. */
async function idsOf(db: DeclaredCluster, size: number, kubectl: Kubectl): Promise<ReadonlyMap<string, string>> {
  await db.voters(size);
  await kubectl(`wait pods -l ${db.label} --for=condition=Ready --timeout=60s`);
  return new Map((await db.members()).map(({ name, id }) => [name, hexOf(id)]));
}

async function applyAll(kubectl: Kubectl, objects: readonly object[]): Promise<void> {
  await kubectl('create -f -', { input: objects.map((object) => JSON.stringify(object)).join('\n') });
}

const uidOf = (object: string, kubectl: Kubectl): Promise<string> =>
  kubectl(`get ${object} -o jsonpath={.metadata.uid}`);
