import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { serviceAccounts } from '../../lab/kinds.ts';
import type { HttpKubeClient } from '../../src/kube/http-client.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { clusterWide } from '../../src/kube/resource.ts';

/** The files of a pod's ServiceAccount, at the path in every pod. */
const directory = '/run/secrets/kubernetes.io/serviceaccount';

const account = { namespace: 'operator', name: 'etcd-operator' };
const rbac = 'rbac.authorization.k8s.io';

const clusterRoleBindings = clusterWide<KubeObject>({
  group: rbac,
  version: 'v1',
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
});

/** Hides /run of this machine from this process and its children. Needs a mount namespace of its own. */
export const hideRun = (): void => void execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', '/run']);

/** Writes token, CA and namespace of a ServiceAccount, and returns the environment of its pods. */
export async function serviceAccountFiles(
  client: HttpKubeClient,
  { kubeconfig, port }: { readonly kubeconfig: string; readonly port: number },
): Promise<Readonly<Record<string, string>>> {
  await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const subjects = [{ kind: 'ServiceAccount', ...account }];
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' };
  const metadata = { name: account.name };
  const binding = { apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata, subjects, roleRef };
  await client.create(clusterRoleBindings, binding);
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: account, spec: {} };
  const given = await client.create(serviceAccounts, asked, { subresource: 'token' });
  const { status } = given as { readonly status?: { readonly token: string } };
  const { clusters } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
  const ca = Buffer.from(clusters[0]?.cluster['certificate-authority-data'] ?? '', 'base64').toString();
  mkdirSync(directory, { recursive: true });
  const files = { token: status?.token ?? '', 'ca.crt': ca, namespace: account.namespace };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return {
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(port),
    MY_POD_NAMESPACE: account.namespace,
  };
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly 'certificate-authority-data': string } }[];
}
