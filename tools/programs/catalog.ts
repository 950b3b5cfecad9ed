/** The programs of one Go module. `packages` maps a program name to its Go package. */
export interface GoModule {
  /**
   * The directory beside this file with `go.mod`, `go.sum`, and `main.go` if no package of the module is the program.
   */
  readonly name: string;
  readonly version: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly linkerFlags?: string;
  /** An older Go toolchain, for sources that panic when built with the current Go. The go command downloads it. */
  readonly toolchain?: string;
}

/** 3.5.21 is tested beside the newest 3.5, because the rules of membership changes differ before 3.5.30. */
export const etcdVersions = ['3.1.10', '3.2.13', '3.3.12', '3.4.31', '3.5.21', '3.5.35', '3.6.16', '3.7.3'] as const;
/** The oldest kubectl that the lab accepts. */
export const foreignKubectl = 'kubectl-1.31';

/** Modules with a `main.go` of this repository. */
export const ownPrograms: readonly string[] = [foreignKubectl, 'porcupine'];

export type EtcdVersion = (typeof etcdVersions)[number];

/** The etcd of the test cluster's control plane. */
export const controlPlaneEtcd: EtcdVersion = '3.6.16';

export const kubernetesVersion = '1.36.4';

const kubernetes: GoModule = {
  name: 'kubernetes',
  version: kubernetesVersion,
  packages: Object.fromEntries(
    ['kube-apiserver', 'kubelet', 'kube-controller-manager', 'kube-scheduler', 'kube-proxy', 'kubectl'].map((name) => [
      name,
      `k8s.io/kubernetes/cmd/${name}`,
    ]),
  ),
  linkerFlags: versionFlags(kubernetesVersion),
};

const oldKubectlVersion = '1.31.14';

const oldKubectl: GoModule = {
  name: foreignKubectl,
  version: oldKubectlVersion,
  packages: { kubectl: 'kubectl' },
  linkerFlags: versionFlags(oldKubectlVersion),
};

/** Linker flags with the Kubernetes version. Without them the server reports v0.0.0 and kubectl warns of skew. */
function versionFlags(version: string): string {
  const [major, minor] = version.split('.');
  const values = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  return Object.entries(values)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ');
}

function etcd(version: EtcdVersion): GoModule {
  const [, minor = 0] = version.split('.').map(Number);
  const name = `etcd-${version}`;
  if (minor >= 5) {
    const root = 'go.etcd.io/etcd';
    return {
      name,
      version,
      packages: { etcd: `${root}/server/v3`, etcdctl: `${root}/etcdctl/v3`, etcdutl: `${root}/etcdutl/v3` },
    };
  }
  const root = minor === 4 ? 'go.etcd.io/etcd' : 'github.com/coreos/etcd';
  const packages = { etcd: root, etcdctl: `${root}/etcdctl` };
  return minor <= 2 ? { name, version, packages, toolchain: 'go1.21.13' } : { name, version, packages };
}

export const goModules: readonly GoModule[] = [
  oldKubectl,
  kubernetes,
  { name: 'coredns', version: '1.15.0', packages: { coredns: 'github.com/coredns/coredns' } },
  {
    name: 'local-path-provisioner',
    version: '0.0.30',
    packages: { 'local-path-provisioner': 'github.com/rancher/local-path-provisioner' },
  },
  {
    name: 'registry',
    version: '3.1.2',
    packages: { registry: 'github.com/distribution/distribution/v3/cmd/registry' },
  },
  { name: 'versitygw', version: '1.8.0', packages: { versitygw: 'github.com/versity/versitygw/cmd/versitygw' } },
  {
    name: 'fake-gcs-server',
    version: '1.56.1',
    packages: { 'fake-gcs-server': 'github.com/fsouza/fake-gcs-server' },
  },
  // Our own main.go: the checker of linearizability, around the module of this version.
  { name: 'porcupine', version: '1.3.1', packages: { porcupine: 'etcd-operator/porcupine' } },
  ...etcdVersions.map(etcd),
];
