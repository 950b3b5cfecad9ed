import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Kubectl } from './kubectl.ts';
import { socketTo } from './member-endpoints.ts';

/** What the operator of a story's namespace says of itself, as Prometheus reads it. */
async function exposed(kubectl: Kubectl): Promise<string> {
  const fields = '{.items[0].metadata.namespace} {.items[0].metadata.name} {.items[0].status.podIP}';
  const pod = await kubectl(`get pods -l name=etcd-operator -o jsonpath='${fields}'`);
  const [namespace = '', name = '', host = ''] = pod.split(' ');
  const socket = await socketTo({ namespace, name }, { host, port: 8080 }, AbortSignal.timeout(10_000));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request({ path: '/metrics', host, createConnection: () => socket }, (answer) => resolve(text(answer)))
    .once('error', reject)
    .end();
  return promise.finally(() => socket.destroy());
}

/** The value of a metric for one resource, if it has any. */
export async function metricOf(kubectl: Kubectl, metric: string, resource: string): Promise<number | undefined> {
  const lines = (await exposed(kubectl)).split('\n');
  const found = lines.find((line) => line.startsWith(`${metric}{`) && line.includes(`,name="${resource}"}`));
  return found === undefined ? undefined : Number(found.slice(found.lastIndexOf(' ') + 1));
}
