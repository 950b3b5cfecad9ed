import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../kube/client.ts';
import { customResourceDefinitions } from '../../kube/resource.ts';
import type { EtcdPrograms } from '../../lab/node/image/etcd-programs.ts';
import { Failure } from '../../std/failure.ts';
import type { Dialect } from './dialects.ts';
import { createAll, exampleCluster, operatorManifests } from './manifests.ts';

export interface FirstClusterOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly etcd: EtcdPrograms;
  readonly dialects: readonly Dialect[];
  readonly say: (line: string) => void;
}

/** Creates the operator and the book's first cluster, where they are not there yet, and gives back the cluster's name. */
export async function createFirstCluster(options: FirstClusterOptions): Promise<string> {
  const { client, namespace, etcd, dialects, say } = options;
  await createAll(client, await operatorManifests(dialects), namespace);
  await untilServed(client);
  const [cluster, ...rest] = await exampleCluster(etcd.version);
  if (cluster === undefined || rest.length > 0) throw new Failure('bug', 'the example is not one cluster');
  const { name } = cluster.metadata;
  const created = await createAll(client, [cluster], namespace);
  say(
    created.length > 0
      ? `Created the operator and ${name}, with etcd ${etcd.version} from ${etcd.from}.`
      : `${name} was here before: it goes on as it is.`,
  );
  return name;
}

/** A new kind is served a moment after its definition was created. */
async function untilServed(client: KubeClient): Promise<void> {
  const at = { name: 'etcdclusters.etcd.database.coreos.com' };
  for (let tries = 0; tries < 100; tries++) {
    const { status } = await client.get(customResourceDefinitions, at);
    const isServed = status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
    if (isServed === true) return;
    await sleep(50);
  }
  throw new Failure('unreachable', `${at.name} is still not served 5 s after it was created`);
}
