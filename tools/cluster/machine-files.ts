import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { debianRoot } from '../debian/packages.ts';
import { registryConfig } from '../images/seed-registry.ts';
import { etcdProgram, program } from '../programs/build.ts';
import { controlPlaneEtcd } from '../programs/catalog.ts';
import type { Files } from './files.ts';
import type { Layout, Node } from './layout.ts';
import { containerdConfig, kubeletConfig, podNetworkConfig, registryForAll } from './node-config.ts';

/** The path on a node for volumes of local-path-provisioner. */
const volumes = '/var/lib/volumes';

export function nodeFiles(layout: Layout, node: Node): Files {
  const others = layout.nodes.filter((other) => other.name !== node.name);
  return {
    ...machineFiles(layout, { name: node.name, address: node.address, services: 'node.sh', routesTo: others }),
    'etc/containerd/config.toml': containerdConfig(),
    'etc/containerd/certs.d/_default/hosts.toml': registryForAll(layout),
    'etc/cni/net.d/10-pods.conflist': podNetworkConfig(node),
    'etc/kubernetes/kubelet.yaml': kubeletConfig(layout, node),
  };
}

export function controlPlaneFiles(layout: Layout): Files {
  const address = layout.controlPlane;
  return {
    ...machineFiles(layout, { name: 'control-plane', address, services: 'control-plane.sh', routesTo: layout.nodes }),
    'etc/kubernetes/audit-policy.yaml': auditPolicy,
    'etc/coredns/Corefile': corefile(layout),
    'etc/registry/config.yml': registryConfig('/var/lib/registry', `${address}:5000`),
    'etc/local-path/config.json': JSON.stringify({
      nodePathMap: [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [volumes] }],
    }),
    'etc/local-path/helper-pod.yaml': helperPod,
  };
}

interface Machine {
  readonly name: string;
  readonly address: string;
  readonly services: string;
  readonly routesTo: readonly Node[];
}

function machineFiles(layout: Layout, { name, address, services, routesTo }: Machine): Files {
  return {
    'etc/machine/boot.sh': script('boot.sh'),
    'etc/machine/start.sh': script('start.sh'),
    'etc/machine/keep.sh': script('keep.sh'),
    'etc/machine/services.sh': script(services),
    'etc/machine/settings': settings(layout, name, address),
    'etc/machine/routes': routesTo.map((node) => `${node.podSubnet} ${node.address}\n`).join(''),
    'etc/hosts': `127.0.0.1 localhost\n${address} ${name}\n`,
    'etc/hostname': `${name}\n`,
    'etc/machine-id': `${Buffer.from(`${layout.name}/${name}`).toString('hex').padEnd(32, '0').slice(0, 32)}\n`,
    'etc/passwd': 'root:x:0:0:root:/var/root:/bin/sh\n',
    'etc/group': 'root:x:0:\n',
    'etc/resolv.conf': `nameserver ${layout.controlPlane}\n`,
    // nft must print "tcp", not 6: kube-proxy removes rules that it does not recognise.
    'etc/protocols': readFileSync(join(debianRoot(), 'etc/protocols'), 'utf8'),
    'etc/services': readFileSync(join(debianRoot(), 'etc/services'), 'utf8'),
  };
}

const script = (file: string): string => readFileSync(join(import.meta.dirname, 'machine', file), 'utf8');

/** Read by the scripts in `machine/`. */
function settings(layout: Layout, name: string, address: string): string {
  const kubernetes = dirname(program('kubernetes', 'kubelet'));
  const values = {
    NAME: name,
    ADDRESS: `${address}/24`,
    CONTROL_PLANE: layout.controlPlane,
    SERVICE_SUBNET: layout.serviceSubnet,
    POD_SUBNET: layout.podSubnet,
    CGROUP: `${layout.link}/${name}`,
    DEBIAN_ROOT: debianRoot(),
    PROGRAMS: dirname(kubernetes),
    KUBERNETES: inside(program('kubernetes', 'kubelet')),
    ETCD: inside(etcdProgram(controlPlaneEtcd, 'etcd')),
    COREDNS: inside(program('coredns', 'coredns')),
    REGISTRY: inside(program('registry', 'registry')),
    LOCAL_PATH: inside(program('local-path-provisioner', 'local-path-provisioner')),
  };
  return Object.entries(values)
    .map(([key, value]) => `${key}='${value}'\n`)
    .join('');
}

/** The path of a built program's directory inside a machine. */
const inside = (path: string): string => `/programs/${basename(dirname(path))}`;

/** Logs every request once, when it is answered. Tests and benchmarks count requests. */
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{ level: Metadata }]
`;

/** The CoreDNS configuration of kubeadm, without a cache for cluster names, so that a new pod resolves at once. */
const corefile = (layout: Layout): string => `.:53 {
    bind ${layout.controlPlane}
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        kubeconfig /etc/kubernetes/admin.conf
        pods insecure
        ttl 30
    }
}
`;

const helperPod = `apiVersion: v1
kind: Pod
metadata: { name: helper-pod }
spec:
  automountServiceAccountToken: false
  tolerations: [{ operator: Exists }]
  containers:
    - name: helper-pod
      image: busybox:latest
      imagePullPolicy: IfNotPresent
`;
