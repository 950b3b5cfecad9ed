import { fromKubeconfig } from '../../kube/config.ts';
import { connectTo } from '../../kube/connection.ts';
import { HttpKubeClient } from '../../kube/http-client.ts';
import type { ControlPlane } from '../../lab/control-plane.ts';

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
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await connection.close();
    },
  };
}
