import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Access, fromKubeconfig, inCluster } from '../../src/kube/config.ts';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { pods, selfSubjectAccessReviews } from '../../src/kube/resource.ts';
import { kubeconfigPath, type TestAccess, testAccess } from '../support/kube-connection.ts';
import { until } from '../support/until.ts';

let test: TestAccess;
let admin: Access;
const directory = mkdtempSync(join(tmpdir(), 'service-account-'));
beforeAll(async () => {
  admin = await fromKubeconfig(kubeconfigPath());
  test = await testAccess();
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await test[Symbol.asyncDispose]();
});

/** Requests a token as the kubelet does; undefined while the service account does not exist yet. */
async function tokenOf(namespace: string): Promise<string | undefined> {
  const { statusCode, body } = await test.connection.request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }),
    beginMillis: 5_000,
    pauseMillis: 5_000,
  });
  const answer = (await body.json()) as { status: { token: string } };
  return statusCode === 201 ? answer.status.token : undefined;
}

describe('in-cluster configuration', () => {
  const env = (): Record<string, string> => ({
    KUBERNETES_SERVICE_HOST: admin.url.hostname,
    KUBERNETES_SERVICE_PORT: admin.url.port || '443',
  });

  it('authenticates as the service account, and a forbidden request names that account', async () => {
    const { namespace } = test;
    const token = await until('the service account has a token', () => tokenOf(namespace));
    const { ca } = await admin.tls();
    for (const [name, text] of Object.entries({ token, namespace, 'ca.crt': String(ca) }))
      writeFileSync(join(directory, name), text);
    const access = await inCluster(env(), { directory });
    if (access === undefined) throw new Error('expected in-cluster configuration');
    const connection = connectTo(access, { userAgent: 'integration-test' });
    const client = new HttpKubeClient(connection, { fieldManager: 'integration-test' });
    const resourceAttributes = { namespace, verb: 'list', resource: 'pods' };
    expect(await client.review(selfSubjectAccessReviews, { resourceAttributes })).toMatchObject({ allowed: false });
    await expect(client.list(pods, { namespace })).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining(`list pods in ${namespace}: pods is forbidden: User "system:serviceaccount:`),
    });
    await connection.close();
  });

  it('with an invalid token or an untrusted server certificate fails as unreachable', async () => {
    writeFileSync(join(directory, 'token'), 'nonsense');
    const access = await inCluster(env(), { directory });
    if (access === undefined) throw new Error('expected in-cluster configuration');
    const listPods = async (as: Access): Promise<unknown> => {
      const connection = connectTo(as, { userAgent: 'integration-test' });
      try {
        return await new HttpKubeClient(connection, { fieldManager: 'integration-test' }).list(pods);
      } finally {
        await connection.close();
      }
    };
    await expect(listPods(access)).rejects.toMatchObject({ kind: 'unreachable', reason: 'Unauthorized' });
    const untrusting = { ...access, tls: async () => ({}) };
    await expect(listPods(untrusting)).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/^list pods: .*certificate/),
    });
  });
});
