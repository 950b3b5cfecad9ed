import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Access, fromKubeconfig } from '../../src/kube/config.ts';
import { type Connection, connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import type { KubeObject, Secret } from '../../src/kube/object.ts';
import { clusterWide, secrets } from '../../src/kube/resource.ts';
import { AdmissionPolicy } from '../support/admission-policy.ts';
import { type LoneApiServer, loneApiServer } from '../support/lone-api-server.ts';
import { until } from '../support/until.ts';

const policy = new AdmissionPolicy('deploy/admission/operator-own-objects.yaml');
const user = 'system:serviceaccount:etcd-operator:etcd-operator';
const kindOf = (group: string, kind: string, plural: string) =>
  clusterWide<KubeObject>({ group, version: 'v1', plural, kind });
const bindings = kindOf('rbac.authorization.k8s.io', 'ClusterRoleBinding', 'clusterrolebindings');
const admission = 'admissionregistration.k8s.io';
const plurals = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'];

let server: LoneApiServer;
let connection: Connection;
/** A client with the operator's identity. RBAC allows it everything. */
let operator: HttpKubeClient;

beforeAll(async () => {
  server = await loneApiServer();
  const access: Access = await fromKubeconfig(server.kubeconfig);
  const headers = async () => ({ ...(await access.headers()), 'impersonate-user': user });
  connection = connectTo({ ...access, headers }, { userAgent: 'lab-test' });
  operator = new HttpKubeClient(connection, { fieldManager: 'etcd-operator' });
  const apiGroup = 'rbac.authorization.k8s.io';
  const binding = {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'operator' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  };
  await server.client.create(bindings, binding);
});
afterAll(async () => {
  await connection.close();
  await server[Symbol.asyncDispose]();
});

const secret = (name: string, labels: Readonly<Record<string, string>> = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default', labels },
  type: 'Opaque',
});
const at = (name: string) => ({ name, namespace: 'default' });
const change = (data: object) => ({ type: 'merge', body: data }) as const;

describe('the example admission policy on a real API server', () => {
  it('is accepted', async () => {
    for (const [i, object] of policy.documents.entries())
      await server.client.create(kindOf(admission, object.kind, plurals[i] ?? ''), object);
  });

  it("restricts the operator's account, and no other, to objects with its own labels", async () => {
    await until('the policy is enforced', async () => {
      const tried = await operator
        .create(secrets, secret('probe'), { dryRun: true })
        .catch((thrown: unknown) => thrown);
      // Until the server has created its first ClusterRoles, RBAC refuses too, with another message.
      return (tried instanceof Error && tried.message.includes('its own labels')) || undefined;
    });
    await server.client.create(secrets, secret('theirs'));
    await expect(operator.create(secrets, secret('bare'))).rejects.toThrow(
      'may create only objects with its own labels',
    );
    await expect(
      operator.patch(secrets, at('theirs'), change({ data: {}, metadata: { annotations: { a: 'b' } } })),
    ).rejects.toThrow('may change and delete only objects that have its own labels');
    await expect(operator.remove(secrets, at('theirs'))).rejects.toThrow('may change and delete only');
    await operator.create(secrets, secret('ours', { etcd_cluster: 'db' }));
    await operator.patch(secrets, at('ours'), change({ metadata: { annotations: { a: 'b' } } }));
    await expect(operator.patch(secrets, at('ours'), change({ metadata: { labels: null } }))).rejects.toThrow(
      'must keep at least one of them',
    );
    await operator.remove(secrets, at('ours'));
    await server.client.remove(secrets, at('theirs'));
  });
});
