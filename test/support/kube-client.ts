import type { KubeClient } from '../../src/kube/client.ts';
import { type Access, fromKubeconfig } from '../../src/kube/config.ts';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { kubeconfigPath } from './kube-connection.ts';

let access: Promise<Access> | undefined;
export const theAccess = (): Promise<Access> => (access ??= fromKubeconfig(kubeconfigPath()));

let client: Promise<KubeClient> | undefined;
/** One client for all stories of a worker. A kubectl call costs 80 ms of CPU, a request on an open connection much less. */
export const theClient = (): Promise<KubeClient> =>
  (client ??= theAccess().then(
    (found) => new HttpKubeClient(connectTo(found, { userAgent: 'stories' }), { fieldManager: 'stories' }),
  ));
