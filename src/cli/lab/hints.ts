import { hostAddress } from '../../lab/network/host-ports.ts';
import { quoted } from '../../lab/node/container/root.ts';
import { type Dialect, exampleFiles } from './dialects.ts';
import type { Running } from './state.ts';

/** The ports of this machine that lead to Services, by their names. */
export type Ports = Readonly<Record<string, number>>;

/** What to export, and what to try next. */
export function hintsOf(running: Omit<Running, 'pid' | 'startedAt'>, ports: Ports): readonly string[] {
  const { kubeconfig, kubectl, empty, dialects = ['coreos'] } = running;
  const path = kubectl === undefined || kubectl.isOnPath ? [] : [`  export PATH=${asWord(kubectl.directory)}:$PATH`];
  const tries = empty === true ? emptyHints : [...firstHints(dialects), ...clientHints(running, ports)];
  return ['', `  export KUBECONFIG=${asWord(kubeconfig)}`, ...path, '', 'Then try, in another terminal:', ...tries, ''];
}

/** As a shell reads it as one word, also where there are blanks in somebody's home. */
const asWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text));

/** What the first cluster of each API is called, and how kubectl finds it and its pods. */
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

type Reached = Pick<Running, 'dialects' | 'etcdctl'>;

function clientHints({ dialects: [first = 'coreos'] = [], etcdctl }: Reached, ports: Ports): readonly string[] {
  const port = ports[`default/${examples[first].name}-client:2379`];
  if (port === undefined) return [];
  return [
    'Its client Service is on this machine too:',
    `  curl http://${hostAddress}:${port}/version`,
    ...(etcdctl === undefined
      ? []
      : [`  ETCDCTL_API=3 ETCDCTL_ENDPOINTS=http://${hostAddress}:${port} ${asWord(etcdctl)} put foo bar`]),
  ];
}

/** Where the Services are on this machine. */
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
