import type { Endpoint, TlsIdentity } from '../../src/etcd/endpoint.ts';
import { type Access, fromKubeconfig } from '../../src/kube/config.ts';
import { forwardedSocket } from '../../src/kube/port-forward.ts';
import { waysToPods } from '../../src/main/ways-to-pods.ts';
import { kubeconfigPath } from './kube-connection.ts';
import type { Kubectl } from './kubectl.ts';
import { isOnTheLab, ourCluster } from './place.ts';

let access: Promise<Access> | undefined;
const theAccess = (): Promise<Access> => (access ??= fromKubeconfig(kubeconfigPath()));

/** Pods of our own test cluster are in reach; the lab's are not; those of another may be. Else we go through the API server. */
const wayTo = ourCluster()
  ? undefined
  : waysToPods({
      forward: async (target, signal) => forwardedSocket(await theAccess(), target, signal),
      straight: !isOnTheLab(),
      onForwards: () => {},
    });

const line = '{.metadata.namespace} {.metadata.name} {.status.podIP}{"\\n"}';

/** How a cluster's clients enter: with a certificate, with a name and a password, or just so. */
export interface Entry {
  readonly tls?: TlsIdentity;
  readonly credentials?: { readonly user: string; readonly password: string };
}

/** Where the members of a cluster are that have an address. */
export async function endpointsOf(
  kubectl: Kubectl,
  { name, label }: { readonly name: string; readonly label: string },
  entry: Entry = {},
): Promise<readonly Endpoint[]> {
  const lines = await kubectl(`get pods -l ${label} -o jsonpath='{range .items[*]}${line}{end}'`);
  return lines.split('\n').flatMap((pod) => endpointIn(name, pod.split(' '), entry));
}

function endpointIn(cluster: string, pod: readonly string[], entry: Entry): readonly Endpoint[] {
  const [namespace = '', name = '', host = ''] = pod;
  if (host === '') return [];
  const dial = { host, port: 2379 };
  const way = wayTo === undefined ? {} : { way: wayTo({ namespace, name }, dial) };
  if (entry.tls === undefined) return [{ url: `http://${host}:2379`, ...way, ...entry }];
  return [{ url: `https://${name}.${cluster}.${namespace}.svc:2379`, dial, ...way, ...entry }];
}
