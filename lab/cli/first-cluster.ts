import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../src/kube/client.ts';
import { customResourceDefinitions } from '../../src/kube/resource.ts';
import { Failure, unless } from '../../src/std/failure.ts';
import { type Deployment, deployments } from '../kinds.ts';
import type { EtcdPrograms } from '../kubelet/image/etcd-programs.ts';
import { type Dialect, definitionOf } from './dialects.ts';
import {
  applyAll,
  createAll,
  dialectsOf,
  exampleCluster,
  operatorManifests,
  servesAllNamespaces,
  withDialects,
} from './manifests.ts';
import type { EtcdCluster } from './view/cluster-changes.ts';

export interface FirstClusterOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly etcd: EtcdPrograms;
  /** The first cluster uses the first dialect. */
  readonly dialects: readonly Dialect[];
  readonly print: (line: string) => void;
}

/** The name in the book's manifest. */
const operatorName = 'etcd-operator';

/** Creates the operator and the first cluster if they do not exist; returns the cluster. */
export async function createFirstCluster(options: FirstClusterOptions): Promise<EtcdCluster> {
  const { client, namespace, etcd, dialects, print } = options;
  const isNewOperator = await createOperator(options);
  for (const dialect of dialects) await untilServed(client, dialect);
  const example = await exampleCluster(dialects[0] ?? 'coreos', etcd.version);
  const { name } = example.metadata;
  const [isNew] = await createAll(client, [example], namespace);
  print(
    isNew === undefined
      ? `${name} exists already and is not changed.`
      : `Created ${isNewOperator ? 'the operator and ' : ''}${name}, with etcd ${etcd.version} from ${etcd.from}.`,
  );
  return { ...example, metadata: { ...example.metadata, namespace } };
}

/** Creates or extends the operator and applies its RBAC objects and definitions; returns true if it is new. */
async function createOperator(options: FirstClusterOptions): Promise<boolean> {
  const { client, namespace, dialects } = options;
  const name = operatorName;
  const before = await unless('not-found', client.get(deployments, { namespace, name }), undefined);
  const served = before === undefined ? [] : dialectsOf(before);
  const manifests = await operatorManifests([...new Set([...served, ...dialects])]);
  const needed = manifests.filter(({ kind }) => kind !== 'Deployment');
  await applyAll(client, needed, namespace);
  if (before === undefined) await createAll(client, manifests, namespace);
  else await extendOperator(before, options);
  return before === undefined;
}

/** Lets an existing operator serve all namespaces and the requested dialects. */
async function extendOperator(deployment: Deployment, options: FirstClusterOptions): Promise<void> {
  const { client, namespace, dialects, print } = options;
  const served = dialectsOf(deployment);
  const all = [...new Set([...served, ...dialects])];
  const isWider = all.length > served.length;
  if (!isWider && servesAllNamespaces(deployment)) return;
  const { spec } = withDialects(deployment, all) as typeof deployment;
  await client.patch(deployments, { namespace, name: operatorName }, { type: 'merge', body: { spec } });
  if (isWider) print(`The operator now serves ${all.join(',')} (before: ${served.join(',')}).`);
}

/** Waits until a new kind is served. */
async function untilServed(client: KubeClient, dialect: Dialect): Promise<void> {
  const at = { name: definitionOf(dialect) };
  for (let tries = 0; tries < 100; tries++) {
    const { status } = await client.get(customResourceDefinitions, at);
    const isServed = status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
    if (isServed === true) return;
    await sleep(50);
  }
  throw new Failure('unreachable', `${at.name} is not established 5 s after its creation`);
}
