import { stringify } from 'yaml';
import { type Authority, type Identity, makeAuthority, makeTokenKeys } from '../../lab/pki.ts';
import type { Files } from './files.ts';
import { apiPort, type Layout, type Node } from './layout.ts';

export interface Credentials {
  readonly controlPlane: Files;
  readonly nodes: Readonly<Record<string, Files>>;
  readonly admin: string;
}

/** Creates all certificates and kubeconfigs of a cluster, each with the identity that Kubernetes expects. */
export async function makeCredentials(layout: Layout): Promise<Credentials> {
  const authority = await makeAuthority(`etcd-operator test cluster ${layout.name}`);
  const kubeconfig = async (commonName: string, organization?: string): Promise<string> =>
    kubeconfigOf(layout, authority, await authority.issue({ commonName, ...(organization ? { organization } : {}) }));
  const admin = await kubeconfig('admin', 'system:masters');

  const nodes: Record<string, Files> = {};
  for (const node of layout.nodes) {
    nodes[node.name] = {
      ...files({
        'ca.crt': authority.certificate,
        'kubelet.conf': await kubeconfig(`system:node:${node.name}`, 'system:nodes'),
      }),
      ...files({ 'kube-proxy.conf': await kubeconfig('system:kube-proxy') }),
      ...pair('kubelet', await authority.issue(servingName(node))),
    };
  }
  const controlPlane = {
    ...(await apiServerFiles(layout, authority)),
    ...files({
      'admin.conf': admin,
      'controller-manager.conf': await kubeconfig('system:kube-controller-manager'),
      'scheduler.conf': await kubeconfig('system:kube-scheduler'),
    }),
  };
  return { controlPlane, nodes, admin };
}

async function apiServerFiles(layout: Layout, authority: Authority): Promise<Files> {
  const tokens = makeTokenKeys();
  const service = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ];
  const serving = await authority.issue({
    commonName: 'kube-apiserver',
    dns: ['localhost', ...service],
    addresses: ['127.0.0.1', layout.controlPlane, layout.apiServiceAddress],
  });
  const toKubelets = await authority.issue({
    commonName: 'kube-apiserver-kubelet-client',
    organization: 'system:masters',
  });
  return {
    ...files({ 'ca.crt': authority.certificate, 'ca.key': authority.key }),
    ...files({ 'tokens.pub': tokens.publicKey, 'tokens.key': tokens.privateKey }),
    ...pair('apiserver', serving),
    ...pair('apiserver-kubelet-client', toKubelets),
  };
}

const servingName = (node: Node): { commonName: string; dns: readonly string[]; addresses: readonly string[] } => ({
  commonName: node.name,
  dns: [node.name],
  addresses: [node.address],
});

const files = (named: Files): Files =>
  Object.fromEntries(Object.entries(named).map(([name, content]) => [`etc/kubernetes/${name}`, content]));

const pair = (name: string, { certificate, key }: Identity): Files =>
  files({ [`${name}.crt`]: certificate, [`${name}.key`]: key });

function kubeconfigOf(layout: Layout, authority: Authority, identity: Identity): string {
  const name = `etcd-operator-${layout.name}`;
  const server = `https://${layout.controlPlane}:${apiPort}`;
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(authority.certificate) } }],
    users: [
      {
        name,
        user: { 'client-certificate-data': base64(identity.certificate), 'client-key-data': base64(identity.key) },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
