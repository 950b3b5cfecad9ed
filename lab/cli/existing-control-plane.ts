import { fromKubeconfig } from '../../src/kube/config.ts';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { whenAborted } from '../../src/std/when-aborted.ts';
import type { ControlPlane } from '../control-plane.ts';

/** An API server that already runs on this machine and has no nodes. */
export async function existingControlPlane(kubeconfig: string): Promise<ControlPlane> {
  const access = await fromKubeconfig(kubeconfig);
  const connection = connectTo(access, { userAgent: 'etcd-operator-lab' });
  return {
    kubeconfig,
    client: new HttpKubeClient(connection, { fieldManager: 'etcd-operator-lab' }),
    api: { host: access.url.hostname, port: Number(access.url.port || 443) },
    setNodeStreams: () => undefined,
    run: async (signal) => {
      await whenAborted(signal);
      await connection.close();
    },
  };
}
