import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Address, Endpoint, TlsIdentity } from '../../src/etcd/endpoint.ts';
import type { NamespacedName, Pod, Stored } from '../../src/kube/object.ts';
import { forwardedSocket } from '../../src/kube/port-forward.ts';
import { pods } from '../../src/kube/resource.ts';
import { routesToPods } from '../../src/operator/pod-routes.ts';
import { theAccess, theClient } from './kube-client.ts';
import type { Kubectl } from './kubectl.ts';
import { isOnTheLab, ourCluster } from './place.ts';

/** Pods of our test cluster are dialled directly. Pods of the lab or of another cluster may need a port-forward. */
const dialerTo = ourCluster()
  ? undefined
  : routesToPods({
      forward: async (target, signal) => forwardedSocket(await theAccess(), target, signal),
      direct: !isOnTheLab(),
      onForwards: () => {},
    });

/** A connection to a port of a pod, direct or by port-forward. */
export const socketTo = (pod: NamespacedName, address: Address, signal: AbortSignal): Promise<Socket> =>
  (dialerTo ?? directOnly)(pod, address)(signal);

const directOnly =
  (_: NamespacedName, address: Address) =>
  async (signal: AbortSignal): Promise<Socket> => {
    const socket = connect({ ...address });
    // An attempt may fail after it was aborted: an unhandled error event would end the process.
    socket.on('error', () => {});
    try {
      await once(socket, 'connect', { signal });
    } catch (thrown) {
      socket.destroy();
      throw thrown;
    }
    return socket;
  };

/** The access of etcd clients: with a certificate, with user and password, or without either. */
export interface ClientAccess {
  readonly tls?: TlsIdentity;
  readonly credentials?: { readonly user: string; readonly password: string };
}

/** The endpoints of all members with a pod IP. Terminating pods are left out. */
export async function endpointsOf(
  { namespace }: Pick<Kubectl, 'namespace'>,
  { name, label }: { readonly name: string; readonly label: string },
  access: ClientAccess = {},
): Promise<readonly Endpoint[]> {
  const { items } = await (await theClient()).list(pods, { namespace, labelSelector: label });
  return items.flatMap((pod) => endpointIn(name, pod, access));
}

function endpointIn(cluster: string, { metadata, status }: Stored<Pod>, access: ClientAccess): readonly Endpoint[] {
  const { namespace = '', name, deletionTimestamp } = metadata;
  const host = status?.podIP ?? '';
  if (host === '' || deletionTimestamp !== undefined) return [];
  const dial = { host, port: 2379 };
  const dialer = dialerTo === undefined ? {} : { dialer: dialerTo({ namespace, name }, dial) };
  if (access.tls === undefined) return [{ url: `http://${host}:2379`, ...dialer, ...access }];
  return [{ url: `https://${name}.${cluster}.${namespace}.svc:2379`, dial, ...dialer, ...access }];
}
