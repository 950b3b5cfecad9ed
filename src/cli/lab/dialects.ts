import type { KubeClient } from '../../kube/client.ts';
import { customResourceDefinitions, namespaced, type Resource } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import type { EtcdCluster } from './tale.ts';

/** An API that the operator serves, by the name that its own `--dialects` knows it by. */
export type Dialect = 'coreos' | 'improbable';

export const isDialect = (name: string): name is Dialect => name === 'coreos' || name === 'improbable';

const clustersOf = (group: string, version: string): Resource<EtcdCluster> =>
  namespaced({ group, version, plural: 'etcdclusters', kind: 'EtcdCluster' });

/** The EtcdClusters of each. */
export const etcdClusters: Readonly<Record<Dialect, Resource<EtcdCluster>>> = {
  coreos: clustersOf('etcd.database.coreos.com', 'v1beta2'),
  improbable: clustersOf('etcd.improbable.io', 'v1alpha1'),
};

/** The first cluster of each, below `examples/`. */
export const exampleFiles: Readonly<Record<Dialect, string>> = {
  coreos: 'coreos/etcd-cluster-cr.yaml',
  improbable: 'improbable/my-etcd.yaml',
};

export const definitionOf = (dialect: Dialect): string => `etcdclusters.${etcdClusters[dialect].group}`;

/** Those that the API server knows. */
export async function definedDialects(client: Pick<KubeClient, 'get'>): Promise<readonly Dialect[]> {
  const isDefined = async (dialect: Dialect): Promise<boolean> => {
    const found = client.get(customResourceDefinitions, { name: definitionOf(dialect) });
    return (await unless('not-found', found, undefined)) !== undefined;
  };
  const all: readonly Dialect[] = ['coreos', 'improbable'];
  const defined = await Promise.all(all.map(isDefined));
  return all.filter((_, index) => defined[index]);
}
