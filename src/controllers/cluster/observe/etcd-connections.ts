import { ports } from '../../../core/cluster/model/template.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import type { TlsMode } from '../../../core/manifests/tls-mode.ts';
import type { EtcdConnection } from '../../../etcd/client.ts';
import type { Endpoint } from '../../../etcd/endpoint.ts';
import { keyOf, type Pod, type Stored } from '../../../kube/object.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { tlsModesOf, trustedWithPassword } from '../tls/mode.ts';
import type { Security } from '../tls/tls-state.ts';
import { memberNameOf } from './members.ts';

interface Access {
  readonly blueprint: Blueprint;
  readonly secrets: Security;
}

/** Opens a connection to each reachable pod of the cluster, and closes the connections to all other pods. */
export function connectionsTo(
  pods: readonly Stored<Pod>[],
  { blueprint, secrets: { entry, locked } }: Access,
  context: ControllerContext,
): ReadonlyMap<string, EtcdConnection> {
  const own = pods.filter(({ metadata }) => metadata.namespace === blueprint.intent.namespace);
  const reachable = locked === undefined ? own.filter(({ status }) => hasAddress(status)) : [];
  const trusted = trustedWithPassword(own, blueprint);
  const entryTo = (pod: Stored<Pod>): Security['entry'] => (trusted.has(pod) ? entry : withoutPassword(entry));
  const endpoint = (pod: Stored<Pod>): Endpoint =>
    withDialer(pod, { ...endpointOf(pod, entry, blueprint), ...entryTo(pod), owner: keyOf(blueprint.intent) }, context);
  const to = (pod: Stored<Pod>): EtcdConnection => context.etcd.to(endpoint(pod));
  const connections = new Map(reachable.map((pod) => [memberNameOf(pod), to(pod)]));
  context.etcd.keepOnly(keyOf(blueprint.intent), [...connections.values()]);
  return connections;
}

/** Kubernetes may give the address of an ended pod to another pod. */
const hasAddress = (status: Pod['status']): boolean =>
  status?.podIP !== undefined && status.phase !== 'Failed' && status.phase !== 'Succeeded';

const withoutPassword = ({ tls }: Security['entry']): Security['entry'] => (tls === undefined ? {} : { tls });

export const withDialer = (
  { metadata }: Stored<Pod>,
  endpoint: Endpoint,
  { dialerTo }: Pick<ControllerContext, 'dialerTo'>,
): Endpoint =>
  dialerTo === undefined || endpoint.dial === undefined
    ? endpoint
    : { ...endpoint, dialer: dialerTo(metadata, endpoint.dial, endpoint) };

/**
 * Uses the scheme that the pod was started with. A dual-mode pod is asked with https if the operator has a client
 * certificate.
 */
const schemeFor = (client: TlsMode, { tls }: Security['entry']): 'http' | 'https' =>
  client === 'encrypted' || (client === 'dual-mode' && tls !== undefined) ? 'https' : 'http';

/** Dials the address of the pod, and expects a certificate for its DNS name. */
export function endpointOf(pod: Stored<Pod>, entry: Security['entry'], { intent, naming }: Blueprint): Endpoint {
  const { status } = pod;
  const scheme = schemeFor(tlsModesOf(pod).client, entry);
  const url = `${scheme}://${memberNameOf(pod)}.${naming.peerService}.${intent.namespace}.svc:${ports.client}`;
  return { url, dial: { host: status?.podIP ?? '', port: ports.client } };
}
