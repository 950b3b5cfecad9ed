import { expect, it } from 'vitest';
import { hintsOf, serviceLines } from './hints.ts';

const running = { kubeconfig: '/state/kubeconfig', nodes: 3 };
const ports = { 'other/web:80': 40001, 'default/example-etcd-cluster-client:2379': 40002 };

it("the hints have the host address of the first cluster's client Service, if it has one", () => {
  expect(hintsOf(running, ports)).toContain('  curl http://127.0.0.1:40002/version');
  expect(hintsOf(running, {}).join('\n')).not.toContain('127.0.0.1');
  expect(hintsOf({ ...running, empty: true }, ports).join('\n')).not.toContain('127.0.0.1');
});

it('Services are listed in the order of their names', () => {
  expect(serviceLines(ports)).toEqual([
    'Service default/example-etcd-cluster-client:2379 is at 127.0.0.1:40002.',
    'Service other/web:80 is at 127.0.0.1:40001.',
  ]);
});

it('paths with blanks or quotes are quoted for a shell', () => {
  const kubectl = { version: '1.36.0', directory: "/home/ann o'b/bin", isOnPath: false };
  const hints = hintsOf({ ...running, kubeconfig: '/home/ann lee/kubeconfig', kubectl }, {});
  expect(hints).toContain("  export KUBECONFIG='/home/ann lee/kubeconfig'");
  expect(hints).toContain("  export PATH='/home/ann o'\\''b/bin':$PATH");
  expect(hintsOf(running, {})).toContain('  export KUBECONFIG=/state/kubeconfig');
});

it('etcdctl is called by its path, or not at all if there is none', () => {
  const etcdctl = '/cache/etcd/usr/bin/etcdctl';
  const put = '  ETCDCTL_API=3 ETCDCTL_ENDPOINTS=http://127.0.0.1:40002 /cache/etcd/usr/bin/etcdctl put foo bar';
  expect(hintsOf({ ...running, etcdctl }, ports)).toContain(put);
  expect(hintsOf(running, ports).join('\n')).not.toContain('put foo bar');
});
