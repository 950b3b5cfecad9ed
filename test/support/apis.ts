/** What a story asks for, in the words of neither API. */
export interface ClusterSpec {
  readonly size: number;
  readonly version: string;
  /** With disks of their own, or without; where members always have one, it makes no difference. */
  readonly durable?: boolean;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly pod?: Readonly<Record<string, unknown>>;
}

/** One of the two APIs, as stories use it: a story that is the same in both is told in both. */
export interface Api {
  readonly name: 'coreos' | 'improbable';
  /** As kubectl takes it, whatever else is installed. */
  readonly resource: string;
  /** The label that has the cluster's name. */
  readonly label: string;
  /** The label that has the member's name; volumes of removed members have it no more. */
  readonly memberLabel: string;
  /** The field of the spec that says how many members there are to be. */
  readonly sizeField: string;
  readonly tlsField: string;
  /** Where the status says how many members serve, how many there are, what they all run, and that nothing is done. */
  readonly status: Readonly<Record<'ready' | 'size' | 'version' | 'paused', string>>;
  /** Whether every member has a disk to come back to, under the name that it had. */
  readonly isNumbered: boolean;
  /** All that a member must not lose. */
  readonly dataPath: string;
  readonly longestName: number;
  /** What the spec says of pods that may never share a node. */
  readonly apart: object;
  readonly specOf: (spec: ClusterSpec) => object;
  readonly apiVersion: string;
}

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } };

export const coreos: Api = {
  name: 'coreos',
  resource: 'etcdclusters.etcd.database.coreos.com',
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  label: 'etcd_cluster',
  memberLabel: 'etcd_node',
  sizeField: 'size',
  tlsField: 'TLS',
  status: { ready: 'readyMembers', size: 'size', version: 'currentVersion', paused: 'controlPaused' },
  isNumbered: false,
  dataPath: '/var/etcd/data',
  longestName: 52,
  apart: { antiAffinity: true },
  specOf: ({ size, version, durable, pod, extra }) => ({
    size,
    version,
    ...extra,
    pod: { ...(durable === true ? { persistentVolumeClaimSpec: claim } : {}), ...pod },
  }),
};

export const improbable: Api = {
  name: 'improbable',
  resource: 'etcdclusters.etcd.improbable.io',
  apiVersion: 'etcd.improbable.io/v1alpha1',
  label: 'etcd.improbable.io/cluster-name',
  memberLabel: 'etcd.improbable.io/peer-name',
  sizeField: 'replicas',
  tlsField: 'tls',
  status: { ready: 'readyReplicas', size: 'replicas', version: 'serverVersion', paused: 'paused' },
  isNumbered: true,
  dataPath: '/var/lib/etcd/member',
  longestName: 56,
  apart: {
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            topologyKey: 'kubernetes.io/hostname',
            labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'etcd' } },
          },
        ],
      },
    },
  },
  specOf: ({ size, version, pod, extra }) => ({
    replicas: size,
    version,
    storage: { volumeClaimTemplate: claim },
    ...extra,
    ...(pod === undefined ? {} : { podTemplate: pod }),
  }),
};

export const manifestOf = (name: string, spec: ClusterSpec, api = coreos): string =>
  JSON.stringify({ apiVersion: api.apiVersion, kind: 'EtcdCluster', metadata: { name }, spec: api.specOf(spec) });
