/** The spec of a cluster, independent of the API. */
export interface ClusterSpec {
  readonly size: number;
  readonly version: string;
  /** Whether members have PVCs. Members of the improbable API always have one. */
  readonly durable?: boolean;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly pod?: Readonly<Record<string, unknown>>;
}

/** One of the two APIs, with the differences that stories need. */
export interface Api {
  readonly name: 'coreos' | 'improbable';
  /** The full resource name for kubectl. */
  readonly resource: string;
  /** The label with the cluster name. */
  readonly label: string;
  /** The label with the member name. PVCs of removed members do not have it. */
  readonly memberLabel: string;
  /** The field of the spec with the number of members. */
  readonly sizeField: string;
  readonly tlsField: string;
  /** The status fields with the number of ready members, the number of members, the version and the pause. */
  readonly status: Readonly<Record<'ready' | 'size' | 'version' | 'paused', string>>;
  /** Whether members are numbered and return to their PVC under the same name. */
  readonly isNumbered: boolean;
  /** The data directory of a member. */
  readonly dataPath: string;
  readonly longestName: number;
  /** The part of the pod spec that keeps members on different nodes. */
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
