import { readHostPorts } from '../../lab/network/host-ports.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';
import { endpointSlices } from '../../src/kube/resource.ts';
import type { DeclaredCluster } from '../support/cluster.ts';
import { theClient } from '../support/kube-client.ts';
import { socketTo } from '../support/member-endpoints.ts';
import { isOnTheLab } from '../support/place.ts';
import { clientAccessIn } from '../support/tls-cluster.ts';
import type { Scene } from './faults.ts';
import type { ServiceEndpoint } from './key-client.ts';
import type { Choices } from './seeded.ts';

const port = 2379;

/**
 * The client Service of a cluster with managed certificates. On the lab, its host port is dialled. Elsewhere this process is outside
 * the cluster and selects an endpoint of the Service for each connection, as kube-proxy does.
 */
export function clientServiceOf({ context, db }: Scene, choices: Choices): ServiceEndpoint {
  const { name, namespace } = db;
  const service = `${name}-client`;
  return async () => {
    const { tls } = await clientAccessIn(context.kubectl, `${name}-client-tls`);
    const endpoint: Endpoint = { url: `https://${service}.${namespace}.svc:${port}`, tls };
    if (!isOnTheLab()) return { ...endpoint, dialer: (signal) => dialOne(db, { service, choices }, signal) };
    const hostPort = readHostPorts(process.env['LAB_STATE'] ?? '')[`${namespace}/${service}:${port}`];
    if (hostPort === undefined) throw new Error(`the Service ${service} has no host port yet`);
    return { ...endpoint, dial: { host: '127.0.0.1', port: hostPort } };
  };
}

async function dialOne(
  { namespace }: DeclaredCluster,
  { service, choices }: { readonly service: string; readonly choices: Choices },
  signal: AbortSignal,
) {
  const labelSelector = `kubernetes.io/service-name=${service}`;
  const { items } = await (await theClient()).list(endpointSlices, { namespace, labelSelector });
  const ready = items
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .map(({ addresses, targetRef }) => ({ host: addresses[0] ?? '', name: targetRef?.name ?? '' }));
  const [first, ...others] = ready;
  if (first === undefined) throw new Error(`the Service ${service} has no endpoint`);
  const { host, name } = choices.one([first, ...others]);
  return socketTo({ namespace, name }, { host, port }, signal);
}
