import type { Running } from './state.ts';

/** What to export, and what to try next. */
export function hintsOf({ kubeconfig, kubectl, empty }: Omit<Running, 'pid' | 'startedAt'>): readonly string[] {
  const path = kubectl === undefined || kubectl.isOnPath ? [] : [`  export PATH=${kubectl.directory}:$PATH`];
  return ['', `  export KUBECONFIG=${kubeconfig}`, ...path, '', ...(empty === true ? emptyHints : firstHints), ''];
}

const firstHints = [
  'Then try, in another terminal:',
  '  kubectl get etcd,pods',
  '  kubectl scale etcd example-etcd-cluster --replicas=5',
  '  kubectl delete pod -l etcd_cluster=example-etcd-cluster --field-selector spec.nodeName=node1',
  '  kubectl describe etcd example-etcd-cluster',
  '  kubectl run --rm -it etcdctl --image quay.io/coreos/etcd --restart=Never -- /bin/sh',
];

const emptyHints = [
  'Then try, in another terminal:',
  '  cd examples/coreos',
  '  kubectl create -f etcd-operator-crd.yaml -f etcd-operator-sa.yaml -f etcd-operator-role.yaml',
  '  kubectl create -f etcd-operator-rolebinding.yaml -f etcd-operator-deployment.yaml',
  '  kubectl create -f etcd-cluster-cr.yaml',
];
