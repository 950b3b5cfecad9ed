import type { Endpoint } from '../../src/etcd/endpoint.ts';
import { type Access, fromKubeconfig } from '../../src/kube/config.ts';
import { forwardedSocket } from '../../src/kube/port-forward.ts';
import { waysToPods } from '../../src/main/ways-to-pods.ts';
import { kubeconfigPath } from './kube-connection.ts';
import type { Kubectl } from './kubectl.ts';

let access: Promise<Access> | undefined;
const theAccess = (): Promise<Access> => (access ??= fromKubeconfig(kubeconfigPath()));

/** Pods of our own test cluster are in reach; those of another may not be, and then we speak to them through its API server. */
const wayTo = process.env['TEST_CLUSTER']
  ? undefined
  : waysToPods({
      forward: async (target, signal) => forwardedSocket(await theAccess(), target, signal),
      straight: true,
      onForwards: () => {},
    });

const line = '{.metadata.namespace} {.metadata.name} {.status.podIP}{"\\n"}';

/** Where the members of a cluster are that have an address. */
export async function endpointsOf(kubectl: Kubectl, cluster: string): Promise<readonly Endpoint[]> {
  const lines = await kubectl(`get pods -l etcd_cluster=${cluster} -o jsonpath='{range .items[*]}${line}{end}'`);
  return lines.split('\n').flatMap((pod) => endpointIn(pod.split(' ')));
}

function endpointIn([namespace = '', name = '', host = '']: readonly string[]): readonly Endpoint[] {
  if (host === '') return [];
  const url = `http://${host}:2379`;
  return [wayTo === undefined ? { url } : { url, way: wayTo({ namespace, name }, { host, port: 2379 }) }];
}
