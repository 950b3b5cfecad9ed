import { accepted, type Case, coreosBench, etcdCluster, refused } from './crd-coreos-support.ts';

const pod = (policy: object) => etcdCluster({ pod: policy });
const env = (name: string) => pod({ etcdEnv: [{ name, value: 'x' }] });
const setting = (name: string | undefined, value: string | undefined) => pod({ etcdEnv: [{ name, value }] });
const many = (name: string, count: number, length: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${name}${index}`, value: 'x'.repeat(length) }));
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const volume = (fields: object) => pod({ persistentVolumeClaimSpec: { ...claim, ...fields } });
const storage = (quantity: unknown) => volume({ resources: { requests: { storage: quantity } } });
const tls = (secrets: object) => etcdCluster({ TLS: { static: secrets } });

const managed = refused('is set by the operator and must not be set here');
const improper = refused('must not be negative and must not have line breaks');
const badQuantity = refused('must be a quantity that is not negative');
const badSecret = refused("must be the name of a Secret in the cluster's own namespace");

const environment: readonly Case[] = [
  ...[
    'NAME',
    'DATA_DIR',
    'INITIAL_CLUSTER',
    'INITIAL_CLUSTER_STATE',
    'INITIAL_ADVERTISE_PEER_URLS',
    'LISTEN_PEER_URLS',
    'ADVERTISE_CLIENT_URLS',
    'FORCE_NEW_CLUSTER',
    'CERT_FILE',
    'PEER_TRUSTED_CA_FILE',
    'CLIENT_CERT_AUTH',
    'CONFIG_FILE',
    'UNSAFE_NO_FSYNC',
  ].map((name): Case => [`the variable ETCD_${name}`, env(`ETCD_${name}`), managed]),
  ['the variable INITIAL_CLUSTER', env('INITIAL_CLUSTER'), managed],
  ['an etcd setting that users may set', env('ETCD_AUTO_COMPACTION_RETENTION'), accepted()],
  ...[
    ['ETCD_AUTO_COMPACTION_RETENTION', '-1'],
    ['ETCD_QUOTA_BACKEND_BYTES', '-8589934592'],
    ['ETCD_LOG_LEVEL', 'info\nETCD_NAME=x'],
  ].map(([name, value]): Case => [`${name} of ${JSON.stringify(value)}`, setting(name, value), improper]),
  [
    'an environment of more than 64 KiB in all',
    pod({ etcdEnv: many('X', 3, 22_000) }),
    refused('must not have more than 64 KiB of names and values in all'),
  ],
  [
    'environment and annotations of more than 64 KiB in all',
    pod({ etcdEnv: many('X', 2, 30_000), annotations: { note: 'x'.repeat(8000) } }),
    refused('must not have more than 64 KiB of names and values in all'),
  ],
  ['an environment of 60 KiB', pod({ etcdEnv: many('X', 2, 30_000) }), accepted()],
  ['a variable unknown to etcd with a line break', setting('MOTTO', 'one\ntwo'), accepted()],
  ['a setting without a value', pod({ etcdEnv: [{ name: 'ETCD_LOG_LEVEL' }] }), accepted('etcd uses its default')],
  [
    'an election timeout shorter than five heartbeats',
    setting('ETCD_ELECTION_TIMEOUT', '100'),
    refused('ETCD_ELECTION_TIMEOUT must be at least five times ETCD_HEARTBEAT_INTERVAL'),
  ],
  [
    'an election timeout of five heartbeats',
    pod({
      etcdEnv: [
        { name: 'ETCD_HEARTBEAT_INTERVAL', value: '500' },
        { name: 'ETCD_ELECTION_TIMEOUT', value: '2500' },
      ],
    }),
    accepted(),
  ],
  ...[0, -1, 1024, 68_719_476_737].map(
    (bytes): Case => [
      `a quota of ${bytes}`,
      etcdCluster({ quotaBackendBytes: bytes }),
      refused('from 1 MiB (1048576)'),
    ],
  ),
  ['a quota with a unit', etcdCluster({ quotaBackendBytes: '8Gi' }), refused('spec.quotaBackendBytes')],
  ...[
    ['periodic', '-1h'],
    ['periodic', '5'],
    ['periodic', '0h'],
    ['revision', '-5'],
    ['revision', '1h'],
  ].map(
    ([mode, retention]): Case => [
      `compaction by ${mode} of ${retention}`,
      etcdCluster({ version: '3.5.35', autoCompaction: { mode, retention } }),
      refused('retention must be a time such as 1h'),
    ],
  ),
  [
    'an unknown compaction mode',
    etcdCluster({ version: '3.5.35', autoCompaction: { mode: 'mood', retention: '1h' } }),
    refused('spec.autoCompaction.mode'),
  ],
  [
    'compaction of etcd 3.2',
    etcdCluster({ version: '3.2.13', autoCompaction: { mode: 'periodic', retention: '1h' } }),
    refused('needs etcd 3.3 or newer'),
  ],
  [
    'a variable with = in its name',
    env('A=B'),
    refused('spec.pod.etcdEnv[0].name: Invalid value: "A=B": must be made of'),
  ],
  ['a variable without name', pod({ etcdEnv: [{ value: 'x' }] }), refused('spec.pod.etcdEnv[0].name: Required value')],
  [
    'a variable twice',
    pod({ etcdEnv: [{ name: 'A' }, { name: 'A' }] }),
    refused('spec.pod.etcdEnv[1]: Duplicate value'),
  ],
];

const podTemplates: readonly Case[] = [
  [
    '10 000 tolerations',
    pod({ tolerations: Array.from({ length: 10_000 }, () => ({ operator: 'Exists' })) }),
    refused('spec.pod.tolerations: Too many'),
  ],
  [
    'a node that does not exist',
    pod({ nodeSelector: { nowhere: 'yes' } }),
    accepted('the scheduler reports it, and the status quotes the report'),
  ],
  [
    'a request above its limit',
    pod({ resources: { requests: { cpu: 2 }, limits: { cpu: '1500m' } } }),
    refused('spec.pod.resources: Invalid value: a request must not be more'),
  ],
  [
    'a request at its limit',
    pod({ resources: { requests: { memory: '1Gi' }, limits: { memory: '1024Mi' } } }),
    accepted(),
  ],
  [
    'a memory limit of 1Mi',
    pod({ resources: { limits: { memory: '1Mi' } } }),
    accepted('the pod cannot start, and the status reports why'),
  ],
  ['a negative request', pod({ resources: { requests: { memory: '-1Gi' } } }), badQuantity],
  ['a negative whole number', pod({ resources: { requests: { memory: -1 } } }), badQuantity],
  [
    'pods that run as root',
    pod({ securityContext: { runAsUser: 0, runAsNonRoot: false } }),
    accepted('the Pod Security level of the namespace decides, and the status quotes it'),
  ],
  ['a negative user', pod({ securityContext: { runAsUser: -1 } }), refused('spec.pod.securityContext.runAsUser')],
  ['a negative time-out', pod({ DNSTimeoutInSecond: -1 }), refused('spec.pod.DNSTimeoutInSecond')],
  ['a cluster domain without leading dot', pod({ ClusterDomain: 'cluster.local' }), refused('must begin with a dot')],
  ['a cluster domain', pod({ ClusterDomain: '.cluster.local' }), accepted()],
  [
    'replaceMemberAfterSeconds of 0',
    etcdCluster({ replaceMemberAfterSeconds: 0 }),
    refused('spec.replaceMemberAfterSeconds'),
  ],
];

const volumes: readonly Case[] = [
  ...['1Gi', '1.5', '10Ei', 1_073_741_824].map(
    (size): Case => [`${size} of storage`, storage(size), accepted('the provisioner rejects sizes that are too large')],
  ),
  ...['-1Gi', '1e400', '1Gi ', '', 'much'].map((size): Case => [`"${size}" of storage`, storage(size), badQuantity]),
  ['storage of 0', storage('0'), refused('resources.requests.storage: Invalid value: "0": must be greater than 0')],
  [
    'a claim without storage',
    volume({ resources: { requests: {} } }),
    refused('persistentVolumeClaimSpec.resources.requests.storage: Required value'),
  ],
  [
    'a claim without access mode',
    volume({ accessModes: [] }),
    refused('persistentVolumeClaimSpec.accessModes: Invalid value'),
  ],
  ['a read-only volume', volume({ accessModes: ['ReadOnlyMany'] }), refused('must not be ReadOnlyMany')],
  ['a raw device', volume({ volumeMode: 'Block' }), refused('persistentVolumeClaimSpec.volumeMode: Unsupported value')],
  [
    'a volume with a dataSourceRef',
    volume({ dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'x', namespace: 'kube-system' } }),
    refused('dataSourceRef is not supported'),
  ],
  [
    'a volume with a dataSource',
    volume({ dataSource: { kind: 'PersistentVolumeClaim', name: 'x' } }),
    refused('dataSource is not supported'),
  ],
  [
    'a missing StorageClass',
    volume({ storageClassName: 'nowhere' }),
    accepted('the StorageClass may be created later; until then the status reports it'),
  ],
];

const secrets: readonly Case[] = [
  [
    'an operator secret alone',
    tls({ operatorSecret: 'o' }),
    refused('operator secret set but member serverSecret not set'),
  ],
  [
    'an operator secret with an empty member',
    tls({ operatorSecret: 'o', member: {} }),
    refused('operator secret set but member serverSecret not set'),
  ],
  [
    'a server secret alone',
    tls({ member: { serverSecret: 's' } }),
    refused('member serverSecret set but operator secret not set'),
  ],
  ['an operator secret and a server secret', tls({ operatorSecret: 'o', member: { serverSecret: 's' } }), accepted()],
  ['managed certificates', etcdCluster({ TLS: { managed: {} } }), accepted()],
  [
    'managed and static certificates',
    etcdCluster({ TLS: { managed: {}, static: { member: { peerSecret: 'p' } } } }),
    refused('static and managed exclude each other'),
  ],
  [
    'managed certificates for etcd 3.1',
    etcdCluster({ version: '3.1.10', TLS: { managed: {} } }),
    refused('TLS.managed needs etcd 3.2 or newer'),
  ],
  ...[0, -1, 17_521].map(
    (certificateLifetimeHours): Case => [
      `a lifetime of ${certificateLifetimeHours} hours`,
      etcdCluster({ TLS: { managed: { certificateLifetimeHours } } }),
      refused('must be from 1 to 17520 hours'),
    ],
  ),
  [
    'peer TLS alone',
    tls({ member: { peerSecret: 'p' }, operatorSecret: '' }),
    accepted('an empty name counts as unset'),
  ],
  ...['kube-system/token', '../token', 'A', 'a..b'].map(
    (peerSecret): Case => [`the secret "${peerSecret}"`, tls({ member: { peerSecret } }), badSecret],
  ),
];

const { withNamespace, judge } = coreosBench();
withNamespace();
judge({ environment, 'pod templates': podTemplates, volumes, secrets });
