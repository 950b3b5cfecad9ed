import type { KubeClient } from '../../src/kube/client.ts';
import { customResourceDefinitions, namespaced, type Resource } from '../../src/kube/resource.ts';
import { unless } from '../../src/std/failure.ts';
import type { EtcdCluster } from './view/cluster-changes.ts';

/** An API that the operator serves, by its name in the flag `--dialects`. */
export type Dialect = 'coreos' | 'improbable';

export const isDialect = (name: string): name is Dialect => name === 'coreos' || name === 'improbable';

const clustersOf = (group: string, version: string): Resource<EtcdCluster> =>
  namespaced({ group, version, plural: 'etcdclusters', kind: 'EtcdCluster' });

/** The EtcdCluster resource of each dialect. */
export const etcdClusters: Readonly<Record<Dialect, Resource<EtcdCluster>>> = {
  coreos: clustersOf('etcd.database.coreos.com', 'v1beta2'),
  improbable: clustersOf('etcd.improbable.io', 'v1alpha1'),
};

/** The manifest of each dialect's first cluster, below `examples/`. */
export const exampleFiles: Readonly<Record<Dialect, string>> = {
  coreos: 'coreos/etcd-cluster-cr.yaml',
  improbable: 'improbable/my-etcd.yaml',
};

export const definitionOf = (dialect: Dialect): string => `etcdclusters.${etcdClusters[dialect].group}`;

/** The dialects whose CustomResourceDefinitions exist. */
export async function definedDialects(client: Pick<KubeClient, 'get'>): Promise<readonly Dialect[]> {
  const isDefined = async (dialect: Dialect): Promise<boolean> => {
    const found = client.get(customResourceDefinitions, { name: definitionOf(dialect) });
    return (await unless('not-found', found, undefined)) !== undefined;
  };
  const all: readonly Dialect[] = ['coreos', 'improbable'];
  const defined = await Promise.all(all.map(isDefined));
  return all.filter((_, index) => defined[index]);
}
