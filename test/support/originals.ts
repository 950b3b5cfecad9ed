import { hexOf } from '../../src/etcd/words.ts';
import type { Api } from './apis.ts';
import { type DeclaredCluster, declaredIn } from './cluster.ts';
import type { Kubectl } from './kubectl.ts';
import type { Entry } from './member-endpoints.ts';
import type { Story } from './story.ts';

/** A Kubernetes object as an original operator has made it. */
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
  /** What else its spec says. */
  readonly extra?: object;
  /** Its pods run, and nobody in them answers. */
  readonly silent?: boolean;
  /** Its members have disks of their own, where it is a matter of choice. */
  readonly durable?: boolean;
  /** Its members show certificates from Secrets that are there, and clients enter with one. */
  readonly entry?: Entry;
}

export interface OwnedCluster extends OriginalCluster {
  readonly namespace: string;
  /** A reference to the EtcdCluster. */
  readonly owner: object;
}

/** What an original operator makes for a cluster, and says of it. */
export interface Original {
  readonly api: Api;
  readonly memberNames: (cluster: OriginalCluster) => readonly string[];
  readonly spec: (cluster: OriginalCluster) => object;
  readonly objects: (cluster: OwnedCluster, names: readonly string[]) => readonly OriginalObject[];
  /** What belongs to its peers, by their uids. */
  readonly afterwards?: (
    cluster: OwnedCluster,
    names: readonly string[],
    uidOf: (peer: string) => string,
  ) => readonly OriginalObject[];
  readonly status: (names: readonly string[], cluster: OriginalCluster, ids: ReadonlyMap<string, string>) => object;
}

type Place = Pick<Story, 'kubectl' | 'namespace'>;

/** Brings a cluster up as an original operator would have, without any operator, and waits until it serves. */
export async function bringUp(original: Original, cluster: OriginalCluster, place: Place): Promise<DeclaredCluster> {
  const { kubectl } = place;
  const names = original.memberNames(cluster);
  await makeObjects(original, cluster, place);
  const db = declaredIn(original.api)(kubectl, cluster.name, cluster.entry);
  const ids = cluster.silent === true ? new Map<string, string>() : await idsOf(db, cluster.size, kubectl);
  const status = JSON.stringify({ status: original.status(names, cluster, ids) });
  await kubectl(`patch ${db.resource} --subresource=status --type=merge -p '${status}'`);
  return db;
}

async function makeObjects(original: Original, cluster: OriginalCluster, { kubectl, namespace }: Place): Promise<void> {
  const { api } = original;
  const { name } = cluster;
  const names = original.memberNames(cluster);
  const declared = { apiVersion: api.apiVersion, kind: 'EtcdCluster', metadata: { name } };
  await applyAll(kubectl, [{ ...declared, spec: { ...original.spec(cluster), ...cluster.extra } }]);
  const uid = await uidOf(`${api.resource}/${name}`, kubectl);
  const owned = { ...cluster, namespace, owner: { apiVersion: api.apiVersion, kind: 'EtcdCluster', name, uid } };
  await applyAll(kubectl, original.objects(owned, names));
  if (original.afterwards === undefined) return;
  const uids = new Map<string, string>();
  for (const peer of names) uids.set(peer, await uidOf(`etcdpeers.etcd.improbable.io/${peer}`, kubectl));
  await applyAll(
    kubectl,
    original.afterwards(owned, names, (peer) => uids.get(peer) ?? ''),
  );
}

/** The numbers of members, once all serve. */
async function idsOf(db: DeclaredCluster, size: number, kubectl: Kubectl): Promise<ReadonlyMap<string, string>> {
  await db.voters(size);
  await kubectl(`wait pods -l ${db.label} --for=condition=Ready --timeout=60s`);
  return new Map((await db.members()).map(({ name, id }) => [name, hexOf(id)]));
}

async function applyAll(kubectl: Kubectl, objects: readonly object[]): Promise<void> {
  await kubectl('create -f -', { input: objects.map((object) => JSON.stringify(object)).join('\n') });
}

const uidOf = (what: string, kubectl: Kubectl): Promise<string> => kubectl(`get ${what} -o jsonpath={.metadata.uid}`);
