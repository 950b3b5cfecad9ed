import { randomBytes } from 'node:crypto';
import { fromKubeconfig } from '../../src/kube/config.ts';
import { type Connection, connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { namespaces } from '../../src/kube/resource.ts';

/** The kubeconfig of the cluster to test against. */
export function kubeconfigPath(): string {
  const path = process.env['KUBECONFIG'];
  if (!path) throw new Error('These tests need a cluster: set KUBECONFIG to its kubeconfig file (see make cluster).');
  return path;
}

export interface TestAccess {
  readonly client: HttpKubeClient;
  readonly connection: Connection;
  readonly namespace: string;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** A client of the real API server, and a new namespace. */
export async function testAccess(): Promise<TestAccess> {
  const access = await fromKubeconfig(kubeconfigPath());
  const connection = connectTo(access, { userAgent: 'integration-test' });
  const client = new HttpKubeClient(connection, { fieldManager: 'integration-test' });
  const namespace = `test-${randomBytes(4).toString('hex')}`;
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  return {
    client,
    connection,
    namespace,
    [Symbol.asyncDispose]: async () => {
      await client.remove(namespaces, { name: namespace });
      await connection.close();
    },
  };
}
