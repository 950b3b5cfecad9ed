import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterObject } from '../src/controllers/cluster/sources.ts';
import { coreos } from '../src/dialects/coreos-v1beta2/dialect.ts';
import { EtcdConnections } from '../src/etcd/connections.ts';
import type { KubeClient } from '../src/kube/client.ts';
import { fromKubeconfig } from '../src/kube/config.ts';
import { connectTo } from '../src/kube/connection.ts';
import { HttpKubeClient } from '../src/kube/http-client.ts';
import { namespaced, pods, type Resource } from '../src/kube/resource.ts';

export const clusters: Resource<ClusterObject> = namespaced({
  group: coreos.group,
  version: coreos.version,
  plural: coreos.plural,
  kind: coreos.kind,
});

/** The API server that a kubeconfig leads to, for as long as `use` takes. */
export async function withClient<T>(kubeconfig: string, use: (client: KubeClient) => Promise<T>): Promise<T> {
  const connection = connectTo(await fromKubeconfig(kubeconfig), { userAgent: 'etcd-operator-bench' });
  try {
    return await use(new HttpKubeClient(connection, { fieldManager: 'bench' }));
  } finally {
    await connection.close();
  }
}

/** Waits until etcd itself says that so many voters serve, and gives how long that took since `began`, in seconds. */
export async function secondsUntilServing(
  client: KubeClient,
  who: { readonly namespace: string; readonly labelSelector: string; readonly size: number; readonly began: number },
): Promise<number> {
  using etcd = new EtcdConnections();
  for (;;) {
    const { items } = await client.list(pods, who);
    const hosts = items.flatMap(({ status }) => (status?.podIP ? [status.podIP] : []));
    const serving = await Promise.all(hosts.map((host) => serves(etcd, host, who.size)));
    if (serving.filter(Boolean).length === who.size) return (performance.now() - who.began) / 1000;
    if (performance.now() - who.began > 120_000) throw new Error('does not serve within two minutes');
    await sleep(20);
  }
}

async function serves(etcd: EtcdConnections, host: string, size: number): Promise<boolean> {
  try {
    const members = await etcd.to({ url: `http://${host}:2379` }).memberList({ timeoutMillis: 500 });
    return members.filter(({ isLearner }) => !isLearner).length === size;
  } catch {
    return false;
  }
}

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** The figures of both ways, and how many times as long the first takes as the second. */
export function report(question: string, ours: readonly number[], byHand: readonly number[]): void {
  const show = (numbers: readonly number[]): string => numbers.map((each) => each.toFixed(2)).join(' ');
  const ratio = (median(ours) / median(byHand)).toFixed(2);
  process.stdout.write(
    `${question}\n  ours     ${median(ours).toFixed(2)} s  (${show(ours)})\n  by hand  ${median(byHand).toFixed(2)} s  (${show(byHand)})\n  ratio    ${ratio}\n`,
  );
}
