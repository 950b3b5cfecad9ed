import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../kube/client.ts';
import { customResourceDefinitions } from '../../kube/resource.ts';
import { type Deployment, deployments } from '../../lab/kinds.ts';
import type { EtcdPrograms } from '../../lab/node/image/etcd-programs.ts';
import { Failure, unless } from '../../std/failure.ts';
import { type Dialect, definitionOf } from './dialects.ts';
import {
  applyAll,
  createAll,
  exampleCluster,
  operatorManifests,
  servedBy,
  servesAllNamespaces,
  serving,
} from './manifests.ts';
import type { EtcdCluster } from './tale.ts';

export interface FirstClusterOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly etcd: EtcdPrograms;
  /** The first cluster is of the first of them. */
  readonly dialects: readonly Dialect[];
  readonly say: (line: string) => void;
}

/** As the book's file has it. */
const operatorName = 'etcd-operator';

/** Creates the operator and a first cluster, where they are not there yet, and gives back the cluster. */
export async function createFirstCluster(options: FirstClusterOptions): Promise<EtcdCluster> {
  const { client, namespace, etcd, dialects, say } = options;
  const isNewOperator = await createOperator(options);
  for (const dialect of dialects) await untilServed(client, dialect);
  const example = await exampleCluster(dialects[0] ?? 'coreos', etcd.version);
  const { name } = example.metadata;
  const [isNew] = await createAll(client, [example], namespace);
  say(
    isNew === undefined
      ? `${name} was here before: it goes on as it is.`
      : `Created ${isNewOperator ? 'the operator and ' : ''}${name}, with etcd ${etcd.version} from ${etcd.from}.`,
  );
  return { ...example, metadata: { ...example.metadata, namespace } };
}

/** Says whether the operator is new; what it needs is made as this version of the program has it in any case. */
async function createOperator(options: FirstClusterOptions): Promise<boolean> {
  const { client, namespace, dialects } = options;
  const name = operatorName;
  const before = await unless('not-found', client.get(deployments, { namespace, name }), undefined);
  const served = before === undefined ? [] : servedBy(before);
  const manifests = await operatorManifests([...new Set([...served, ...dialects])]);
  const needed = manifests.filter(({ kind }) => kind !== 'Deployment');
  await applyAll(client, needed, namespace);
  if (before === undefined) await createAll(client, manifests, namespace);
  else await widen(before, options);
  return before === undefined;
}

/** An operator that is here from before serves all namespaces, and learns of the dialects that it was not told of then. */
async function widen(deployment: Deployment, options: FirstClusterOptions): Promise<void> {
  const { client, namespace, dialects, say } = options;
  const served = servedBy(deployment);
  const all = [...new Set([...served, ...dialects])];
  const isWider = all.length > served.length;
  if (!isWider && servesAllNamespaces(deployment)) return;
  const { spec } = serving(deployment, all) as typeof deployment;
  await client.patch(deployments, { namespace, name: operatorName }, { type: 'merge', body: { spec } });
  if (isWider) say(`The operator, which served ${served.join(',')}, now serves ${all.join(',')}.`);
}

/** A new kind is served a moment after its definition was created. */
async function untilServed(client: KubeClient, dialect: Dialect): Promise<void> {
  const at = { name: definitionOf(dialect) };
  for (let tries = 0; tries < 100; tries++) {
    const { status } = await client.get(customResourceDefinitions, at);
    const isServed = status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
    if (isServed === true) return;
    await sleep(50);
  }
  throw new Failure('unreachable', `${at.name} is still not served 5 s after it was created`);
}
