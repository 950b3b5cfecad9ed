import { accepted, type Case, coreosBench, etcdCluster, refused, refusedAnyway } from './crd-coreos-support.ts';

const named = (name: string) => etcdCluster({}, { name });
const pod = (policy: object) => etcdCluster({ pod: policy });

const tooLong = refused('cluster name cannot be more than 52 characters long');
const noServiceName = refused('metadata.name must be lower-case letters');
const badSize = refused('spec.size: Invalid value: ');
const badVersion = refused('must be a released etcd version of three numbers');
const badRepository = refused('must be an image name without tag');
const reservedLabel = refused('spec.pod.labels: Invalid value: spec: pod labels contains reserved label');

const names: readonly Case[] = [
  ['a name of one letter', named('a'), accepted()],
  ['a name of 52 letters', named('a'.repeat(52)), accepted()],
  ['a name of 53 letters', named('a'.repeat(53)), tooLong],
  ['a name of 63 letters', named('a'.repeat(63)), tooLong],
  ['a name of 253 letters', named('a'.repeat(253)), tooLong],
  ['a name that ends in a digit', named('etcd-2'), accepted()],
  ['a name that begins with a digit', named('2-etcd'), noServiceName],
  ['a name that ends in a dash', named('etcd-'), refused('metadata.name: Invalid value')],
  ['a name with a dot', named('etcd.main'), noServiceName],
  [
    'the name kubernetes',
    named('kubernetes'),
    accepted('the Service of that name exists only in namespace default; there the reader refuses'),
  ],
];

const sizes: readonly Case[] = [
  ...[1, 2, 4, 9].map((size): Case => [`size ${size}`, etcdCluster({ size }), accepted('an even size is valid')]),
  ...[0, -1, 10, 1e9, 2_147_483_648].map((size): Case => [`size ${size}`, etcdCluster({ size }), badSize]),
  ...[1.5, '3'].map((size): Case => [`size ${JSON.stringify(size)}`, etcdCluster({ size }), badSize]),
  ['size null', etcdCluster({ size: null }), refused('spec.size: Required value')],
];

const digest = `@sha256:${'0'.repeat(64)}`;

const versions: readonly Case[] = [
  ...['', '3.1.10', 'v3.5.30'].map((version): Case => [`version "${version}"`, etcdCluster({ version }), accepted()]),
  ['a version with a digest', etcdCluster({ version: `v3.5.30${digest}` }), accepted()],
  ...[digest, `3.5${digest}`, '3.5.30@sha256:00', `3.5.30${digest}0`].map(
    (version): Case => [`version "${version.slice(0, 20)}" (${version.length})`, etcdCluster({ version }), badVersion],
  ),
  ['version 99.0.0', etcdCluster({ version: '99.0.0' }), accepted('the image pull shows whether the version exists')],
  ...[
    'latest',
    '3.5',
    'vv3.5.30',
    '3.5.30-rc.0',
    '3.5.30+x',
    '3.5.30; rm -rf /',
    '$(id)',
    '٣.٥.٣٠',
    '>=3.5.0',
    '3.05.1',
  ].map((version): Case => [`version "${version}"`, etcdCluster({ version }), badVersion]),
  ['a version of a kibibyte', etcdCluster({ version: '3'.repeat(1024) }), refused('spec.version: Too long')],
  ['a version that is a number', etcdCluster({ version: 3.5 }), refused('spec.version: Invalid value')],
];

const images: readonly Case[] = [
  ...['', 'etcd', 'registry:5000/team/etcd', '[::1]:5000/etcd', 'gcr.io/etcd-development/etcd'].map(
    (repository): Case => [`repository "${repository}"`, etcdCluster({ repository }), accepted()],
  ),
  ...[
    'a b',
    'etcd:v3.5.0',
    `etcd:v3.5.30@sha256:${'0'.repeat(64)}`,
    `etcd@sha256:${'0'.repeat(65)}`,
    `etcd@sha256:${'A'.repeat(64)}`,
    `etcd@sha512:${'0'.repeat(64)}`,
    'etcd@sha256:00',
    'etcd:v3@sha256:00',
    'https://quay.io/etcd',
    'Etcd',
    '$(id)',
  ].map(
    (repository): Case => [
      `repository "${repository.slice(0, 20)}" (${repository.length})`,
      etcdCluster({ repository }),
      badRepository,
    ],
  ),
  ['a repository with a digest', etcdCluster({ repository: `quay.io/coreos/etcd${digest}` }), accepted()],
  ['a digest twice', etcdCluster({ version: `3.5.30${digest}`, repository: `etcd${digest}` }), refused('not both')],
  [
    'a repository name longer than 255 characters',
    etcdCluster({ repository: 'a'.repeat(256) }),
    refused('longer than 255 characters'),
  ],
  [
    'a repository longer than the field',
    etcdCluster({ repository: 'a'.repeat(328) }),
    refused('spec.repository: Too long'),
  ],
  ['a busybox image with a blank', pod({ busyboxImage: 'a b' }), refused('must be the name of an image')],
];

const labels: readonly Case[] = [
  ['the label etcd_cluster', pod({ labels: { etcd_cluster: 'x' } }), reservedLabel],
  ['the label app', pod({ labels: { app: 'x' } }), reservedLabel],
  ["a label with the operator's prefix", pod({ labels: { 'etcd.database.coreos.com/x': 'x' } }), reservedLabel],
  ['a label value of 63 letters', pod({ labels: { 'example.com/team': 'a'.repeat(63) } }), accepted()],
  ['a label value of 64 letters', pod({ labels: { team: 'a'.repeat(64) } }), refused('spec.pod.labels.team: Too long')],
  [
    'a label value with a blank',
    pod({ labels: { team: 'a b' } }),
    refused('spec.pod.labels[team]: Invalid value: "a b": must be'),
  ],
  [
    'a label name with a blank',
    pod({ labels: { 'a b': 'x' } }),
    refused('spec.pod.labels: Invalid value: each label name'),
  ],
  ['the annotation etcd.version', pod({ annotations: { 'etcd.version': '9' } }), refused('spec.pod.annotations')],
  [
    "an annotation with the operator's prefix",
    pod({ annotations: { 'etcd.database.coreos.com/initial-cluster': '' } }),
    refused('spec.pod.annotations'),
  ],
  [
    'pod annotations of 256 KiB',
    pod({ annotations: { big: 'x'.repeat(262_144) } }),
    refused('spec.pod.annotations.big: Too long'),
  ],
  [
    'annotations of 256 KiB on the EtcdCluster',
    etcdCluster({}, { annotations: { big: 'x'.repeat(262_144) } }),
    refusedAnyway('metadata.annotations: Too long'),
  ],
];

const { withNamespace, judge } = coreosBench();
withNamespace();
judge({ names, sizes, versions, images, labels });
