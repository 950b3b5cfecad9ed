import { accepted, type Case, etcdCluster, improbableBench, refused } from './crd-improbable-support.ts';

const named = (name: string) => etcdCluster({}, { name });
const pod = (template: object) => etcdCluster({ podTemplate: template });
const env = (name: string) => pod({ etcdEnv: [{ name, value: 'x' }] });
const volume = (fields: object) =>
  etcdCluster({ storage: { volumeClaimTemplate: { resources: { requests: { storage: '1Gi' } }, ...fields } } });
const storage = (quantity: unknown) => volume({ resources: { requests: { storage: quantity } } });

const tooLong = refused('cluster name cannot be more than 56 characters long');
const noServiceName = refused('metadata.name must be lower-case letters');
const badReplicas = refused('spec.replicas: Invalid value: ');
const badVersion = refused('must be a released etcd version of three numbers');
const managed = refused('is set by the operator and must not be set here');
const badQuantity = refused('must be a quantity that is not negative');
const reserved = refused("spec.podTemplate.metadata: Invalid value: Annotation name is a reserved name ('etcd.improb");

const names: readonly Case[] = [
  ['a name of one letter', named('a'), accepted()],
  ['a name of 56 letters', named('a'.repeat(56)), accepted()],
  ...[57, 63, 253].map((length): Case => [`a name of ${length} letters`, named('a'.repeat(length)), tooLong]),
  ['a name that looks like a member name', named('etcd-2'), accepted('the members are etcd-2-0, etcd-2-1, …')],
  ['a name that begins with a digit', named('2-etcd'), noServiceName],
  ['a name with a dot', named('etcd.main'), noServiceName],
];

const replicas: readonly Case[] = [
  ...[1, 2, 9].map((n): Case => [`${n} replicas`, etcdCluster({ replicas: n }), accepted('an even number is valid')]),
  ...[0, -1, 10, 2_147_483_648, 1.5, '3'].map(
    (n): Case => [`replicas ${JSON.stringify(n)}`, etcdCluster({ replicas: n }), badReplicas],
  ),
  ['replicas null', etcdCluster({ replicas: null }), refused('spec.replicas: Required value')],
];

const digest = `@sha256:${'0'.repeat(64)}`;

const versions: readonly Case[] = [
  ...['3.2.27', 'v3.6.16', null].map((version): Case => [`version ${version}`, etcdCluster({ version }), accepted()]),
  ...['2.3.8', '4.0.0'].map(
    (version): Case => [`version ${version}`, etcdCluster({ version }), refused('only Etcd version 3 is supported')],
  ),
  ...['', 'latest', '3.5', '3.5.30-rc.0', '3.5.30; rm -rf /', '$(id)', '٣.٥.٣٠', '3.05.1'].map(
    (version): Case => [`version "${version}"`, etcdCluster({ version }), badVersion],
  ),
  ['a version of a kibibyte', etcdCluster({ version: '3'.repeat(1024) }), refused('spec.version: Too long')],
  ['a version that is a number', etcdCluster({ version: 3.5 }), refused('spec.version: Invalid value')],
  ['a version with a digest', etcdCluster({ version: `3.6.16${digest}` }), accepted()],
  ['a repository with a digest', etcdCluster({ repository: `etcd${digest}` }), accepted()],
  ['a digest twice', etcdCluster({ version: `3.6.16${digest}`, repository: `etcd${digest}` }), refused('not both')],
  ['a digest that is too short', etcdCluster({ version: '3.6.16@sha256:00' }), badVersion],
  ['a repository with a tag', etcdCluster({ repository: 'etcd:v3' }), refused('must be an image name without tag')],
];

const volumes: readonly Case[] = [
  ['no storage', etcdCluster({ storage: null }), accepted('the default is 1 GiB of the default StorageClass')],
  ['empty storage', etcdCluster({ storage: {} }), accepted('the default is 1 GiB of the default StorageClass')],
  ['no storage class', volume({}), accepted('the default StorageClass is used')],
  [
    'a missing StorageClass',
    volume({ storageClassName: 'nowhere' }),
    accepted('the StorageClass may be created later'),
  ],
  [
    'a template without a size',
    etcdCluster({ storage: { volumeClaimTemplate: { storageClassName: 'standard' } } }),
    refused('spec.storage.volumeClaimTemplate.resources: Required value'),
  ],
  [
    'a template without a size, with the message of the original',
    volume({ resources: { requests: {} } }),
    refused('spec.storage.volumeClaimTemplate.resources.requests.storage: Required value'),
  ],
  ...['1Gi', '1.5', '10Ei', 1_073_741_824].map((size): Case => [`${size} of storage`, storage(size), accepted()]),
  ...['-1Gi', '1e400', '1Gi ', '', 'much'].map((size): Case => [`"${size}" of storage`, storage(size), badQuantity]),
  ['storage of 0', storage('0'), refused('"0": must be greater than 0')],
  ['a block device', volume({ volumeMode: 'Block' }), refused('spec.storage.volumeClaimTemplate.volumeMode')],
  ['a read-only volume', volume({ accessModes: ['ReadOnlyMany'] }), refused('must not be ReadOnlyMany')],
  [
    'a copy of another volume',
    volume({ dataSource: { kind: 'x', name: 'y' } }),
    refused('dataSource is not supported'),
  ],
  [
    'an unknown volumeClaimPolicy',
    etcdCluster({ storage: { volumeClaimPolicy: 'Recycle' } }),
    refused('spec.storage.volumeClaimPolicy: Unsupported value'),
  ],
];

const pods: readonly Case[] = [
  [
    "an annotation with the operator's prefix",
    pod({ metadata: { annotations: { 'etcd.improbable.io/x': '' } } }),
    reserved,
  ],
  [
    "a label with the operator's prefix",
    pod({ metadata: { labels: { 'etcd.improbable.io/cluster-name': 'x' } } }),
    refused('Label name is a reserved name'),
  ],
  [
    'a label value with a blank',
    pod({ metadata: { labels: { team: 'a b' } } }),
    refused('spec.podTemplate.metadata.labels[team]: Invalid value'),
  ],
  [
    'a request above its limit',
    pod({ resources: { requests: { cpu: 2 }, limits: { cpu: '1500m' } } }),
    refused('spec.podTemplate.resources: Invalid value: a request must not be more'),
  ],
  ['a negative limit', pod({ resources: { limits: { cpu: '-1' } } }), badQuantity],
  ...['NAME', 'DATA_DIR', 'INITIAL_CLUSTER', 'LISTEN_PEER_URLS', 'FORCE_NEW_CLUSTER'].map(
    (name): Case => [`the variable ETCD_${name}`, env(`ETCD_${name}`), managed],
  ),
  ['an etcd setting that users may set', env('ETCD_HEARTBEAT_INTERVAL'), accepted()],
  [
    'environment and annotations of more than 64 KiB in all',
    pod({
      etcdEnv: [1, 2].map((each) => ({ name: `X${each}`, value: 'x'.repeat(30_000) })),
      metadata: { annotations: { note: 'x'.repeat(8000) } },
    }),
    refused('must not have more than 64 KiB of names and values in all'),
  ],
  [
    '10 000 tolerations',
    pod({ tolerations: Array.from({ length: 10_000 }, () => ({ operator: 'Exists' })) }),
    refused('spec.podTemplate.tolerations: Too many'),
  ],
];

const settings: readonly Case[] = [
  ['a quota of a byte', etcdCluster({ quotaBackendBytes: 1 }), refused('must be from 1 MiB')],
  [
    'periodic compaction with a number of revisions',
    etcdCluster({ autoCompaction: { mode: 'periodic', retention: '5000' } }),
    refused('retention must be a time such as 1h'),
  ],
  [
    'compaction with etcd 3.2',
    etcdCluster({ version: '3.2.27', autoCompaction: { mode: 'revision', retention: '5000' } }),
    refused('autoCompaction needs etcd 3.3 or newer'),
  ],
  [
    'an operator secret alone',
    etcdCluster({ tls: { static: { operatorSecret: 'o' } } }),
    refused('operator secret set but member serverSecret not set'),
  ],
  ['managed certificates', etcdCluster({ tls: { managed: {} } }), accepted()],
  [
    'managed and static certificates',
    etcdCluster({ tls: { managed: {}, static: { member: { peerSecret: 'p' } } } }),
    refused('static and managed exclude each other'),
  ],
  [
    'managed certificates with etcd 3.1',
    etcdCluster({ version: '3.1.10', tls: { managed: {} } }),
    refused('tls.managed needs etcd 3.2 or newer'),
  ],
  [
    'a credentials Secret of another namespace',
    etcdCluster({ auth: { operatorCredentials: 'kube-system/token' } }),
    refused("must be the name of a Secret of the cluster's own namespace"),
  ],
  ['paused as text', etcdCluster({ paused: 'yes' }), refused('spec.paused: Invalid value')],
];

const { withNamespace, judge } = improbableBench();
withNamespace();
judge({ names, replicas, versions, volumes, pods, settings });
