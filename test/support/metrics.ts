import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { podsOf, type Within } from './api.ts';
import { socketTo } from './member-endpoints.ts';

/** The /metrics page of the operator in the namespace of a story. */
async function metricsPage(within: Within): Promise<string> {
  const [pod] = await podsOf(within, 'name=etcd-operator');
  const [namespace, name = '', host = ''] = [within.namespace, pod?.metadata.name, pod?.status?.podIP];
  const socket = await socketTo({ namespace, name }, { host, port: 8080 }, AbortSignal.timeout(10_000));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request({ path: '/metrics', host, createConnection: () => socket }, (answer) => resolve(text(answer)))
    .once('error', reject)
    .end();
  return promise.finally(() => socket.destroy());
}

/** The value of a metric for one resource; undefined without one. */
export async function metricOf(within: Within, metric: string, resource: string): Promise<number | undefined> {
  const lines = (await metricsPage(within)).split('\n');
  const found = lines.find((line) => line.startsWith(`${metric}{`) && line.includes(`,name="${resource}"}`));
  return found === undefined ? undefined : Number(found.slice(found.lastIndexOf(' ') + 1));
}

/** The value of an operator metric without labels. */
export async function totalOf(within: Within, metric: string): Promise<number> {
  const found = (await metricsPage(within)).split('\n').find((line) => line.startsWith(`${metric} `));
  return found === undefined ? 0 : Number(found.slice(found.lastIndexOf(' ') + 1));
}
