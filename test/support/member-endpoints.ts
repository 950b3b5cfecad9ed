import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Address, Endpoint, TlsIdentity } from '../../src/etcd/endpoint.ts';
import type { At, Pod, Stored } from '../../src/kube/object.ts';
import { forwardedSocket } from '../../src/kube/port-forward.ts';
import { pods } from '../../src/kube/resource.ts';
import { waysToPods } from '../../src/main/ways-to-pods.ts';
import { theAccess, theClient } from './kube-client.ts';
import type { Kubectl } from './kubectl.ts';
import { isOnTheLab, ourCluster } from './place.ts';

/** Pods of our own test cluster are in reach; the lab's are not; those of another may be. Else we go through the API server. */
const wayTo = ourCluster()
  ? undefined
  : waysToPods({
      forward: async (target, signal) => forwardedSocket(await theAccess(), target, signal),
      straight: !isOnTheLab(),
      onForwards: () => {},
    });

/** A connection to a port of a pod, by whichever way leads there. */
export const socketTo = (pod: At, address: Address, signal: AbortSignal): Promise<Socket> =>
  (wayTo ?? straightOnly)(pod, address)(signal);

const straightOnly =
  (_: At, address: Address) =>
  async (signal: AbortSignal): Promise<Socket> => {
    const socket = connect({ ...address });
    await once(socket, 'connect', { signal });
    return socket;
  };

/** How a cluster's clients enter: with a certificate, with a name and a password, or just so. */
export interface Entry {
  readonly tls?: TlsIdentity;
  readonly credentials?: { readonly user: string; readonly password: string };
}

/** Where the members of a cluster are that have an address, and are not about to lose it. */
export async function endpointsOf(
  { namespace }: Pick<Kubectl, 'namespace'>,
  { name, label }: { readonly name: string; readonly label: string },
  entry: Entry = {},
): Promise<readonly Endpoint[]> {
  const { items } = await (await theClient()).list(pods, { namespace, labelSelector: label });
  return items.flatMap((pod) => endpointIn(name, pod, entry));
}

function endpointIn(cluster: string, { metadata, status }: Stored<Pod>, entry: Entry): readonly Endpoint[] {
  const { namespace = '', name, deletionTimestamp } = metadata;
  const host = status?.podIP ?? '';
  if (host === '' || deletionTimestamp !== undefined) return [];
  const dial = { host, port: 2379 };
  const way = wayTo === undefined ? {} : { way: wayTo({ namespace, name }, dial) };
  if (entry.tls === undefined) return [{ url: `http://${host}:2379`, ...way, ...entry }];
  return [{ url: `https://${name}.${cluster}.${namespace}.svc:2379`, dial, ...way, ...entry }];
}
