import { fromKubeconfig } from '../../kube/config.ts';
import { connectTo } from '../../kube/connection.ts';
import { HttpKubeClient } from '../../kube/http-client.ts';
import type { ControlPlane } from '../../lab/control-plane.ts';
import { whenAborted } from '../../std/when-aborted.ts';

/** An API server that runs already, on this machine, and has no nodes of its own. */
export async function existingControlPlane(kubeconfig: string): Promise<ControlPlane> {
  const access = await fromKubeconfig(kubeconfig);
  const connection = connectTo(access, { userAgent: 'etcd-operator-lab' });
  return {
    kubeconfig,
    client: new HttpKubeClient(connection, { fieldManager: 'etcd-operator-lab' }),
    api: { host: access.url.hostname, port: Number(access.url.port || 443) },
    reach: () => undefined,
    run: async (signal) => {
      await whenAborted(signal);
      await connection.close();
    },
  };
}
