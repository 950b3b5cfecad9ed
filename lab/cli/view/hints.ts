import { quoted } from '../../kubelet/container/root.ts';
import { hostAddress } from '../../network/host-ports.ts';
import { type Dialect, exampleFiles } from '../dialects.ts';
import type { Running } from '../state.ts';

/** The host ports of Services, by Service and port. */
export type Ports = Readonly<Record<string, number>>;

/** The hints: what to export and what to try next. */
export function hintsOf(running: Omit<Running, 'pid' | 'startedAt'>, ports: Ports): readonly string[] {
  const { kubeconfig, kubectl, empty, dialects = ['coreos'] } = running;
  const path =
    kubectl === undefined || kubectl.isOnPath ? [] : [`  export PATH=${shellQuoted(kubectl.directory)}:$PATH`];
  const tries = empty === true ? emptyHints : [...firstHints(dialects), ...clientHints(running, ports)];
  return [
    '',
    `  export KUBECONFIG=${shellQuoted(kubeconfig)}`,
    ...path,
    '',
    'Then try, in another terminal:',
    ...tries,
    '',
  ];
}

/** Quotes a text for a shell if necessary. */
const shellQuoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text));

/** The first cluster of each dialect: its kind for kubectl, its name and the label of its pods. */
const examples: Readonly<Record<Dialect, { readonly kind: string; readonly name: string; readonly label: string }>> = {
  coreos: { kind: 'etcd', name: 'example-etcd-cluster', label: 'etcd_cluster' },
  improbable: { kind: 'ietcd', name: 'my-etcd', label: 'etcd.improbable.io/cluster-name' },
};

function firstHints([first = 'coreos', ...more]: readonly Dialect[]): readonly string[] {
  const { kind, name, label } = examples[first];
  return [
    `  kubectl get ${kind},pods`,
    `  kubectl scale ${kind} ${name} --replicas=5`,
    `  kubectl delete pod -l ${label}=${name} --field-selector spec.nodeName=node1`,
    `  kubectl describe ${kind} ${name}`,
    '  kubectl run --rm -it etcdctl --image quay.io/coreos/etcd --restart=Never -- /bin/sh',
    ...more.map((dialect) => `  kubectl create -f examples/${exampleFiles[dialect]}`),
  ];
}

type Clients = Pick<Running, 'dialects' | 'etcdctl'>;

function clientHints({ dialects: [first = 'coreos'] = [], etcdctl }: Clients, ports: Ports): readonly string[] {
  const port = ports[`default/${examples[first].name}-client:2379`];
  if (port === undefined) return [];
  return [
    'The client Service has an address on this machine:',
    `  curl http://${hostAddress}:${port}/version`,
    ...(etcdctl === undefined
      ? []
      : [`  ETCDCTL_API=3 ETCDCTL_ENDPOINTS=http://${hostAddress}:${port} ${shellQuoted(etcdctl)} put foo bar`]),
  ];
}

/** The host addresses of Services. */
export const serviceLines = (ports: Ports): readonly string[] =>
  Object.entries(ports)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([service, port]) => `Service ${service} is at ${hostAddress}:${port}.`);

const emptyHints = [
  '  cd examples/coreos',
  '  kubectl create -f etcd-operator-crd.yaml -f etcd-operator-sa.yaml -f etcd-operator-role.yaml',
  '  kubectl create -f etcd-operator-rolebinding.yaml -f etcd-operator-deployment.yaml',
  '  kubectl create -f etcd-cluster-cr.yaml',
];
