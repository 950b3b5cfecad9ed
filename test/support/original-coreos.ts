import { coreos } from './apis.ts';
import type { Original, OriginalCluster, OriginalObject, OwnedCluster } from './originals.ts';
import { tlsOf } from './tls-cluster.ts';

/**
 * A cluster as the CoreOS etcd Operator leaves it: bare pods with random names that run as root with `restartPolicy: Never`, on
 * emptyDirs or on PVCs of their members.
 */
export const originalOfCoreos: Original = {
  api: coreos,
  memberNames: ({ name, size }) =>
    ['8xbtrq4wmc', 'k2vqj9d7zl', 'wn5fr6hcgt'].slice(0, size).map((end) => `${name}-${end}`),
  spec: ({ size, version, name, durable, access }) => ({
    ...{ size, version },
    ...(durable === true ? { pod: { persistentVolumeClaimSpec: claimSpec } } : {}),
    ...(access === undefined ? {} : { TLS: tlsOf(name, ['peer', 'client']) }),
  }),
  objects: (cluster, names) => {
    const owner = { ...cluster.owner, controller: true };
    const host = (member: string): string => `${member}.${cluster.name}.${cluster.namespace}.svc`;
    const peers = names.map((member) => `${member}=${schemeOf(cluster)}://${host(member)}:2380`).join(',');
    return [
      ...services(cluster.name).map((service) => ownedBy(owner, service)),
      ...(cluster.durable === true ? names : []).map((member) => ownedBy(owner, claimOf(member, cluster))),
      ...names.map((member) => ownedBy(owner, podOf(member, { ...cluster, host: host(member), peers }))),
    ];
  },
  status: (names, { version, name }) => ({
    phase: 'Running',
    size: names.length,
    members: { ready: names, unready: [] },
    currentVersion: version,
    targetVersion: '',
    serviceName: `${name}-client`,
    clientPort: 2379,
    conditions: [{ type: 'Available', status: 'True', reason: 'Cluster available', ...longAgo }],
  }),
};

const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } };

const schemeOf = ({ access }: OriginalCluster): string => (access === undefined ? 'http' : 'https');

const claimOf = (member: string, { name }: OwnedCluster): OriginalObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: member, labels: labelsOf(name) },
  spec: claimSpec,
});

const longAgo = { lastUpdateTime: '2020-01-01T00:00:00Z', lastTransitionTime: '2020-01-01T00:00:00Z' };

const labelsOf = (cluster: string) => ({ app: 'etcd', etcd_cluster: cluster });

const ownedBy = (owner: object, object: OriginalObject): OriginalObject => ({
  ...object,
  metadata: { ...object.metadata, ownerReferences: [owner] },
});

/** The annotation is the predecessor of `publishNotReadyAddresses`. */
const services = (cluster: string): readonly OriginalObject[] => [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: cluster,
      labels: labelsOf(cluster),
      annotations: { 'service.alpha.kubernetes.io/tolerate-unready-endpoints': 'true' },
    },
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: labelsOf(cluster),
      ports: [
        { name: 'client', port: 2379 },
        { name: 'peer', port: 2380 },
      ],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `${cluster}-client`, labels: labelsOf(cluster) },
    spec: { selector: labelsOf(cluster), ports: [{ name: 'client', port: 2379 }] },
  },
];

interface MemberContext extends OwnedCluster {
  readonly host: string;
  readonly peers: string;
}

const podOf = (member: string, context: MemberContext): OriginalObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: member,
    labels: { ...labelsOf(context.name), etcd_node: member },
    annotations: { 'etcd.version': context.version },
  },
  spec: {
    hostname: member,
    subdomain: context.name,
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    containers: [
      context.silent === true ? { ...etcdOf(member, context), command: ['sleep', '3600'] } : etcdOf(member, context),
    ],
    volumes: [
      {
        name: 'etcd-data',
        ...(context.durable === true ? { persistentVolumeClaim: { claimName: member } } : { emptyDir: {} }),
      },
      ...secretsOf(context).map(({ volume, secret }) => ({ name: volume, secret: { secretName: secret } })),
    ],
  },
});

interface MountedSecret {
  readonly volume: string;
  readonly secret: string;
  readonly at: string;
}

const secretsOf = ({ name, access }: OriginalCluster): readonly MountedSecret[] =>
  access === undefined
    ? []
    : [
        { volume: 'member-peer-tls', secret: `${name}-peer`, at: '/etc/etcdtls/member/peer-tls' },
        { volume: 'member-server-tls', secret: `${name}-server`, at: '/etc/etcdtls/member/server-tls' },
        { volume: 'etcd-client-tls', secret: `${name}-etcd-client`, at: '/etc/etcdtls/operator/etcd-tls' },
      ];

const tlsFlags = (prefix: string, side: 'peer' | 'server'): readonly string[] => {
  const file = `/etc/etcdtls/member/${side}-tls/${side}`;
  return [
    `--${prefix}client-cert-auth=true`,
    `--${prefix}trusted-ca-file=${file}-ca.crt`,
    `--${prefix}cert-file=${file}.crt`,
    `--${prefix}key-file=${file}.key`,
  ];
};

function probeOf({ access }: OriginalCluster): object {
  const file = '/etc/etcdtls/operator/etcd-tls/etcd-client';
  const flags = `--endpoints=https://localhost:2379 --cert=${file}.crt --key=${file}.key --cacert=${file}-ca.crt`;
  const command = `ETCDCTL_API=3 etcdctl ${access === undefined ? '' : flags} endpoint status`;
  return { exec: { command: ['/bin/sh', '-ec', command] } };
}

function etcdOf(member: string, context: MemberContext): object {
  const { version, host, peers, access } = context;
  const scheme = schemeOf(context);
  const probe = probeOf(context);
  return {
    name: 'etcd',
    image: `quay.io/coreos/etcd:v${version}`,
    command: [
      '/usr/local/bin/etcd',
      '--data-dir=/var/etcd/data',
      `--name=${member}`,
      `--initial-advertise-peer-urls=${scheme}://${host}:2380`,
      `--listen-peer-urls=${scheme}://0.0.0.0:2380`,
      `--listen-client-urls=${scheme}://0.0.0.0:2379`,
      `--advertise-client-urls=${scheme}://${host}:2379`,
      `--initial-cluster=${peers}`,
      '--initial-cluster-state=new',
      ...(access === undefined ? [] : [...tlsFlags('peer-', 'peer'), ...tlsFlags('', 'server')]),
      '--initial-cluster-token=2c5f4d1e-0d4f-4b0e-9b4e-6f1f3c1a7d11',
    ],
    ports: [
      { name: 'server', containerPort: 2380 },
      { name: 'client', containerPort: 2379 },
    ],
    livenessProbe: { ...probe, initialDelaySeconds: 10, timeoutSeconds: 10, periodSeconds: 60 },
    readinessProbe: { ...probe, initialDelaySeconds: 1, timeoutSeconds: 5, periodSeconds: 5 },
    volumeMounts: [
      { name: 'etcd-data', mountPath: '/var/etcd' },
      ...secretsOf(context).map(({ volume, at }) => ({ name: volume, mountPath: at })),
    ],
  };
}
