import fc from 'fast-check';
import type { StructuralSchema } from '../../src/apis/common/schema/structural-schema.ts';

/** Values that users write by mistake, or to do harm. */

const sizes = [52, 53, 64, 253, 254, 300, 1024, 2049, 8193, 33_000, 70_000, 300_000];

const names = [
  ...['', ' ', '-', 'a-', '-a', 'UPPER', 'a..b', 'a.b', 'a_b', 'a/b', 'a//b', '/a', 'a/', '..', '../../etc/passwd'],
  ...['kubernetes', 'default', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf'],
  ...[
    'user-secret',
    'store',
    'etcd-user',
    'foreign',
    'other/foreign',
    'kube-system',
    'app',
    'etcd_cluster',
    'etcd.version',
  ],
  ...['etcd.database.coreos.com/x', 'etcd.improbable.io/x', 'app.kubernetes.io/name', 'example.com/a', 'x'.repeat(63)],
  ...['a', 'etcd-2', '2-etcd', 'db-0', 'db-client', 'db-server-tls', 'backups'],
];

/** Settings of etcd that only the operator makes, as variables and as flags. */
const etcdSettings = [
  ...['ETCD_NAME', 'ETCD_DATA_DIR', 'ETCD_INITIAL_CLUSTER', 'ETCD_INITIAL_CLUSTER_STATE', 'ETCD_FORCE_NEW_CLUSTER'],
  ...['ETCD_LISTEN_PEER_URLS', 'ETCD_ADVERTISE_CLIENT_URLS', 'ETCD_CERT_FILE', 'ETCD_UNSAFE_NO_FSYNC', 'etcd_name'],
  ...['--data-dir=/', '--force-new-cluster', 'A=B', 'LD_PRELOAD', 'PATH'],
];

const controls = [
  '\0',
  '\n',
  'a\nb',
  '\r\n',
  '\t',
  '\u001b[31m',
  '\u007f',
  '\u0085',
  '\u2028',
  '\u202e',
  '\ufeff',
  '\ud800',
];
const unicode = ['ü', '日本', '💥', '💥'.repeat(200), 'é', '٣', 'K', 'ﬀ', 'İ', '\u200b', 'a\u0301'];
const code = [
  '$(POD_IP)',
  `\${HOME}`,
  '`id`',
  '$(id)',
  '"; exit 1; "',
  "' || true",
  '{{ .UID }}',
  '{{',
  '{{ .Secret }}',
  '%s',
  '<b>',
];

const quantities = [
  '1e400',
  '1e-400',
  '1e99',
  '1e+99',
  '-1',
  '+1',
  '.5',
  '5.',
  '1.5Gi',
  '0',
  '0Gi',
  '1Ki1',
  '1 Gi',
  '1i',
  'Gi',
  '10Ei',
  '1Gi ',
  '0.1m',
];
const numbersAsText = [
  '0',
  '1',
  '-1',
  '3',
  '1.0',
  '1e3',
  'NaN',
  'Infinity',
  '-Infinity',
  '0x10',
  '1_000',
  '9007199254740993',
  'true',
  'null',
];
const versions = [
  '3.5',
  'v3.5.21',
  'latest',
  '3.5.21-rc.1',
  '4.0.0',
  '0.0.0',
  '3.1.10',
  '2.3.8',
  '03.5.1',
  '3.5.21@sha256:00',
  '999.999.9999',
  '3.5.30+x',
  '3.5.30; rm -rf /',
  '3.6.0',
  '3.2.13',
  `3.5.21@sha256:${'0'.repeat(64)}`,
  `etcd:v3.5.21@sha256:${'0'.repeat(64)}`,
  'registry:5000/etcd',
  'a b',
];

const urls = [
  ...[
    'http://user:password@host/path',
    'https://user:password@db:2379',
    'http://169.254.169.254/latest',
    'file:///etc/passwd',
  ],
  ...[
    's3://bucket/key?endpoint=http://evil',
    's3://user:password@bucket/key',
    's3://bucket',
    's3:///key',
    's3://b/..',
    's3://b/a/../c',
    'https://kubernetes.default.svc',
    'https://metadata.google.internal',
    '[fd00:ec2::254]:2379',
  ],
  ...[
    'gs://b/k?x=1',
    'azblob://c/k',
    'oss://b/k#f',
    'file://claim/../x',
    'file://user-secret/key',
    'ftp://b/k',
    's3://b/k%00',
    's3://b/k%zz',
  ],
  ...[
    's3://b/{{ .Nope }}',
    's3://b/{{ .Name',
    'http://[::1]:2379',
    'http://:2379',
    '//host',
    'host:99999',
    's3://b\\k',
    'http://ho st',
  ],
];

const times = [
  ...[
    '0 0 31 2 *',
    '0 0 30 2 *',
    '60 * * * *',
    '* * * *',
    '* * * * * *',
    '@every 0s',
    '@every 1ns',
    '@every -1h',
    '@never',
    '@reboot',
  ],
  ...[
    '@every 99999999h',
    '*/0 * * * *',
    '5-1 * * * *',
    'TZ=Nowhere/Land 0 0 * * *',
    'CRON_TZ=UTC @daily',
    '0 0 L * *',
    '0 0 ? * MON#6',
  ],
  ...[
    'Europe/Berlin',
    'Mars/Base',
    'UTC',
    'utc',
    '+25:00',
    '2026-02-30',
    '1h',
    '0s',
    '-1h',
    '1h1',
    '99999h',
    '1d',
    '-5m',
    '9999999h',
    '@yearly',
  ],
];

const texts = [
  ...names,
  ...controls,
  ...unicode,
  ...code,
  ...quantities,
  ...numbersAsText,
  ...versions,
  ...etcdSettings,
  ...urls,
  ...times,
];

const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...texts) },
  { weight: 1, arbitrary: fc.constantFrom(...sizes).map((size) => 'x'.repeat(size)) },
  { weight: 1, arbitrary: fc.array(fc.nat(0xffff), { maxLength: 20 }).map((units) => String.fromCharCode(...units)) },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
);

const numbers = [
  -1,
  0,
  -0,
  1,
  2,
  4,
  8,
  9,
  10,
  1e9,
  1.5,
  0.1,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 63,
  1e21,
  1e308,
  -1e308,
];

const hostileNumber: fc.Arbitrary<number> = fc.oneof(fc.constantFrom(...numbers), fc.integer());

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { a: value } : [value];
  return value;
}

/** An object with its own key, also for `__proto__`. */
export const withKey = (key: string, value: unknown): object => Object.fromEntries([[key, value]]);

const hostileTree: fc.Arbitrary<unknown> = fc.constantFrom<unknown>(
  ...[[], {}, [[]], [{}], [null], { '': '' }, [''], ['a', 'a'], { a: null }],
  ...[withKey('__proto__', { polluted: 'yes' }), withKey('constructor', { prototype: { polluted: 'yes' } })],
  ...[withKey('toString', 'x'), { length: 3 }, nested(8), nested(40), nested(200)],
  ...[{ secretKeyRef: { name: 'user-secret', key: 'token' } }, { secretKeyRef: { name: 'foreign', key: 'token' } }],
  ...[{ privileged: true }, { hostPath: { path: '/' } }, { runAsUser: 0 }, { runAsNonRoot: false }],
  ...[{ containers: [{ name: 'etcd', image: 'x' }] }, [{ name: 'etcd', image: 'x', command: ['/bin/sh'] }]],
  ...[{ name: 'ETCD_NAME', value: 'x' }, [{ name: 'ETCD_FORCE_NEW_CLUSTER', value: 'true' }]],
  ...[{ requests: { memory: '2Gi' }, limits: { memory: '1Mi' } }, { storage: '1Mi' }],
  Array.from({ length: 200 }, (_, index) => ({ name: `item-${index}` })),
  Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`key-${index}`, 'v'])),
);

const anything: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  hostileNumber,
  fc.boolean(),
  fc.constant(null),
  hostileTree,
  fc.jsonValue({ maxDepth: 3 }),
);

const hostileList = fc.oneof(fc.array(anything, { maxLength: 3 }), hostileTree);
const hostileMap = fc.oneof(anything, fc.dictionary(hostileText, anything, { maxKeys: 3 }));

/** Values for a field: mostly of its type, so that they pass the first check. */
export function hostileValue(schema: StructuralSchema): fc.Arbitrary<unknown> {
  const fitting = fittingValue(schema);
  return fc.oneof({ weight: 3, arbitrary: fitting }, { weight: 1, arbitrary: anything });
}

function fittingValue({ type, enum: allowed }: StructuralSchema): fc.Arbitrary<unknown> {
  if (allowed !== undefined) return fc.oneof(fc.constantFrom(...allowed), hostileText);
  switch (type ?? 'object') {
    case 'string':
      return hostileText;
    case 'integer':
    case 'number':
      return hostileNumber;
    case 'boolean':
      return fc.boolean();
    case 'array':
      return hostileList;
    default:
      return hostileMap;
  }
}

/** Keys that a typing error or an attacker adds to an object. */
export const hostileKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'hostNetwork',
    'hostPID',
    'hostIPC',
    'hostPath',
    'privileged',
    'nodeName',
    'containers',
    'initContainers',
    'ephemeralContainers',
    'volumes',
    'runtimeClassName',
    'namespace',
    'Size',
    'replica',
    '',
  ),
  hostileText.filter((text) => text.length < 400),
);
