import { arch, cpus, release, totalmem } from 'node:os';
import type { Node } from '../../src/kube/object.ts';
import { nodeAddress } from '../network/addresses.ts';

const capacity = (): Readonly<Record<string, string>> => ({
  cpu: String(cpus().length),
  memory: `${Math.floor(totalmem() / 1024)}Ki`,
  'ephemeral-storage': '100Gi',
  pods: '250',
});

/** The Node object that the kubelet registers. */
export function nodeObject(name: string): Node {
  const architecture = arch() === 'x64' ? 'amd64' : arch();
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': architecture,
        'topology.kubernetes.io/zone': name,
      },
    },
    spec: {},
  };
}

/** The status that the kubelet writes; `since` is the time at which the node became ready. */
export const nodeStatus = (name: string, number: number, times: { readonly now: string; readonly since: string }) => ({
  capacity: capacity(),
  allocatable: capacity(),
  addresses: [
    { type: 'InternalIP', address: nodeAddress(number) },
    { type: 'Hostname', address: name },
  ],
  conditions: [
    ...['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
      type,
      status: 'False',
      reason: `KubeletHasNo${type}`,
      message: `kubelet has no ${type.toLowerCase()}`,
      lastHeartbeatTime: times.now,
      lastTransitionTime: times.since,
    })),
    {
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      message: 'kubelet is posting ready status',
      lastHeartbeatTime: times.now,
      lastTransitionTime: times.since,
    },
  ],
  nodeInfo: {
    machineID: name,
    systemUUID: name,
    bootID: name,
    kernelVersion: release(),
    osImage: 'the lab',
    containerRuntimeVersion: 'lab://1',
    kubeletVersion: 'v1.36.0-lab',
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: arch() === 'x64' ? 'amd64' : arch(),
  },
});
