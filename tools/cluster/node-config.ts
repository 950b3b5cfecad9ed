import { stringify } from 'yaml';
import { pauseImage } from '../images/test-images.ts';
import type { Layout, Node } from './layout.ts';

/** `restrict_oom_score_adj`: without CAP_SYS_RESOURCE runc could not give a container the score it is asked for. */
export const containerdConfig = (): string => `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/${pauseImage}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/etc/containerd/certs.d"
`;

/** Redirects every registry to the cluster's own. An image that is not there cannot be pulled. */
export const registryForAll = (layout: Layout): string => `server = "http://${layout.registry}"
[host."http://${layout.registry}"]
  capabilities = ["pull", "resolve"]
`;

export const podNetworkConfig = (node: Node): string =>
  JSON.stringify({
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: '/run/cni', // in memory: a stopped node has no pods, and must not keep their addresses
          ranges: [[{ subnet: node.podSubnet, gateway: node.podGateway }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
    ],
  });

export const kubeletConfig = (layout: Layout, node: Node): string =>
  stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: '/etc/kubernetes/ca.crt' } },
    authorization: { mode: 'Webhook' },
    tlsCertFile: '/etc/kubernetes/kubelet.crt',
    tlsPrivateKeyFile: '/etc/kubernetes/kubelet.key',
    clusterDomain: 'cluster.local',
    clusterDNS: [layout.controlPlane],
    resolvConf: '/etc/resolv.conf',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${layout.link}/${node.name}`,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
    // No eviction and no image garbage collection if the host's disk is nearly full.
    evictionHard: {
      'memory.available': '50Mi',
      'nodefs.available': '0%',
      'imagefs.available': '0%',
      'nodefs.inodesFree': '0%',
    },
    imageGCHighThresholdPercent: 100,
    serializeImagePulls: false,
    registryPullQPS: 0,
    eventRecordQPS: 0,
  });
