import { describe, expect, it } from 'vitest';
import type { StructuralSchema } from '../../src/apis/common/schema/structural-schema.ts';
import { etcdClusterSchema } from '../../src/apis/coreos-v1beta2/crd.ts';
import { readEtcdCluster } from '../../src/apis/coreos-v1beta2/read.ts';
import { coreosBench, etcdCluster } from './crd-coreos-support.ts';

const { asStored, offer, offerByKubectl, withNamespace } = coreosBench();

/** An EtcdCluster with every field set. */
const everything = etcdCluster({
  auth: { operatorCredentials: 'root-of-etcd' },
  version: '3.7.3',
  repository: 'quay.io/coreos/etcd',
  paused: true,
  replaceMemberAfterSeconds: 60,
  pod: {
    labels: { team: 'one' },
    annotations: { note: 'two' },
    nodeSelector: { volume: 'fast' },
    affinity: { nodeAffinity: {}, podAffinity: {}, podAntiAffinity: {} },
    antiAffinity: false,
    resources: { limits: { cpu: '2' }, requests: { cpu: 1 } },
    tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 5 }],
    etcdEnv: [{ name: 'A', value: 'b', valueFrom: {} }],
    persistentVolumeClaimSpec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
      storageClassName: 'c',
      volumeAttributesClassName: 'd',
      volumeMode: 'Filesystem',
      volumeName: 'e',
      selector: {},
    },
    securityContext: { runAsUser: 1, runAsGroup: 1, runAsNonRoot: true, fsGroup: 1, supplementalGroups: [1] },
    imagePullSecrets: [{ name: 'pull' }],
    priorityClassName: 'high',
    serviceAccountName: 'etcd',
    topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' }],
    busyboxImage: 'busybox',
    DNSTimeoutInSecond: 1,
    ClusterDomain: '.cluster.local',
  },
  quotaBackendBytes: 8_589_934_592,
  autoCompaction: { mode: 'periodic', retention: '1h' },
  TLS: { static: { member: { peerSecret: 'p', serverSecret: 's' }, operatorSecret: 'o' } },
});

/** Fields that a rule always refuses, so a valid object has none of them. */
const never = /\.(dataSource|dataSourceRef)$/;

interface Place {
  readonly keys: readonly string[];
  readonly type: string;
}

function placesIn(schema: StructuralSchema, value: unknown, keys: readonly string[]): readonly Place[] {
  const inner = (key: string, node: StructuralSchema) =>
    placesIn(node, (value as Readonly<Record<string, unknown>> | undefined)?.[key], keys.concat(key));
  const here = { keys, type: schema.type ?? 'quantity' };
  const children = Object.entries(schema.properties ?? {}).flatMap(([key, node]) => inner(key, node));
  const items = schema.items ? inner('0', schema.items) : [];
  const values = schema.additionalProperties
    ? inner(Object.keys(value as object)[0] ?? '', schema.additionalProperties)
    : [];
  return [here].concat(children, items, values);
}

const spec = etcdClusterSchema().properties?.['spec'] ?? {};
const places = placesIn(spec, everything['spec'], ['spec']).filter(({ keys }) => !never.test(keys.join('.')));

const wrong: Readonly<Record<string, unknown>> = {
  object: 'text',
  array: 'text',
  string: 7,
  integer: 'text',
  boolean: 'text',
  quantity: true,
};

type ManifestJson = Readonly<Record<string, unknown>>;

function withAt(value: unknown, [key, ...rest]: readonly string[], replacement: unknown): unknown {
  if (key === undefined) return replacement;
  const copy: Record<string, unknown> = Object.assign(Array.isArray(value) ? [] : {}, value);
  copy[key] = withAt(copy[key], rest, replacement);
  return copy;
}

const offered = ({ keys }: Place, index: number, value: unknown): ManifestJson =>
  withAt(withAt(everything, keys, value), ['metadata', 'name'], `case-${index}`) as ManifestJson;

/** Creates objects in a dry run and returns the messages of refused ones by name. */
async function offerAll(objects: readonly ManifestJson[]): Promise<ReadonlyMap<string, string>> {
  const answers = await Promise.all(objects.map((object) => offer(object)));
  return new Map(answers.flatMap(({ accepted, message }, index) => (accepted ? [] : [[`case-${index}`, message]])));
}

/** The path in the notation of the API server: spec.pod.etcdEnv[0].name. */
const pathOf = ({ keys }: Place): string => keys.join('.').replaceAll('.0', '[0]');

const placeOf = (name: string): Place => places[Number(name.slice('case-'.length))] ?? { keys: [name], type: '' };

const emptyOf = ({ type }: Place): unknown => ({ object: {}, array: [], integer: 0, boolean: false })[type] ?? '';

const claim = 'spec.pod.persistentVolumeClaimSpec';
const refusedEitherWay = [
  'spec',
  'spec.size',
  'spec.auth.operatorCredentials',
  'spec.pod.etcdEnv[0]',
  'spec.pod.etcdEnv[0].name',
  `${claim}.accessModes`,
  `${claim}.resources`,
  `${claim}.resources.requests`,
  `${claim}.resources.requests.storage`,
  'spec.version', // the default is too old for autoCompaction
  'spec.autoCompaction.mode',
  'spec.autoCompaction.retention',
  'spec.backupBeforeUpgrade.like',
  'spec.pod.imagePullSecrets[0]',
  'spec.pod.imagePullSecrets[0].name',
  'spec.pod.topologySpreadConstraints[0]',
  'spec.pod.topologySpreadConstraints[0].maxSkew',
  'spec.pod.topologySpreadConstraints[0].whenUnsatisfiable',
  // One of two secrets that are only valid together.
  'spec.TLS.static.member',
  'spec.TLS.static.member.serverSecret',
  'spec.TLS.static.operatorSecret',
  // Not valid together with static certificates.
  'spec.TLS.managed.certificateLifetimeHours',
  'spec.TLS.managed.rotate',
];
const refusedIfNull = refusedEitherWay.concat(
  'spec.pod.tolerations[0]',
  'spec.pod.topologySpreadConstraints[0].topologyKey',
  `${claim}.accessModes[0]`,
  'spec.pod.securityContext.supplementalGroups[0]',
);
const refusedIfEmpty = refusedEitherWay.concat(
  'spec.TLS.managed',
  'spec.auth',
  'spec.backupBeforeUpgrade',
  'spec.replaceMemberAfterSeconds',
  'spec.volumeClaimPolicy',
  'spec.quotaBackendBytes',
  'spec.autoCompaction',
  'spec.pod.priorityClassName',
  'spec.pod.serviceAccountName',
  'spec.pod.resources.limits.cpu',
  'spec.pod.resources.requests.cpu',
  claim,
  `${claim}.resources.limits.storage`,
  `${claim}.volumeMode`,
);

const depths = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;

const head = 'apiVersion: etcd.database.coreos.com/v1beta2\nkind: EtcdCluster\nmetadata: { name: example }\n';

withNamespace();

describe('an EtcdCluster of the coreos API', () => {
  it('with every field set is accepted', async () => {
    const { accepted, message, stored } = await offer(everything);
    expect(accepted, message).toBe(true);
    expect(readEtcdCluster(stored).ok).toBe(true);
  });

  it('with a value of the wrong type in any field is refused by API server and reader, which name the field', async () => {
    const objects = places.map((place, index) => offered(place, index, wrong[place.type]));
    const refusals = await offerAll(objects);
    for (const [index, place] of places.entries()) {
      expect(refusals.get(`case-${index}`), pathOf(place)).toContain(`${pathOf(place)}: Invalid value`);
      const read = readEtcdCluster(asStored(objects[index] ?? {}));
      expect(read.ok ? [] : read.problems.map(({ path }) => path)).toContain(pathOf(place));
    }
  });

  it.each([
    ['null', () => null, refusedIfNull],
    ['an empty value', emptyOf, refusedIfEmpty],
  ] as const)('with %s in any field gets the same verdict from API server and reader', async (_, valueFor, refused) => {
    const objects = places.map((place, index) => offered(place, index, valueFor(place)));
    const refusals = await offerAll(objects);
    for (const [index, place] of places.entries()) {
      const refusal = refusals.get(`case-${index}`);
      const read = readEtcdCluster(asStored(objects[index] ?? {}));
      expect(read.ok, `${pathOf(place)}: ${refusal}`).toBe(refusal === undefined);
    }
    expect([...refusals.keys()].map((name) => pathOf(placeOf(name))).toSorted()).toEqual(refused.toSorted());
  });

  it.each([
    ['hostNetwork', true],
    ['hostPID', true],
    ['privileged', true],
    ['nodeName', 'node1'],
    ['containers', [{ name: 'etcd', image: 'x' }]],
    ['initContainers', [{ name: 'x', image: 'x' }]],
    ['volumes', [{ name: 'x', hostPath: { path: '/' } }]],
    ['runtimeClassName', 'missing'],
    ['namespace', 'kube-system'],
  ])(
    'with the unknown field spec.pod.%s is refused under strict validation and ignored by the reader',
    async (field, value) => {
      const object = etcdCluster({ pod: { [field]: value } });
      expect(await offer(object)).toMatchObject({
        accepted: false,
        message: expect.stringContaining(`unknown field "spec.pod.${field}"`),
      });
      const read = readEtcdCluster(asStored(object));
      expect(read.ok && read.value.spec.pod).toEqual({});
    },
  );

  it.each([
    ['a size written as 3.0', 'spec: { size: 3.0 }', 3],
    ['a duplicate field, where kubectl takes the last', 'spec: { size: 3, size: 5 }', 5],
  ])('with %s is accepted', async (_, text, size) => {
    expect(await offerByKubectl(`${head}${text}`)).toMatchObject({ accepted: true, stored: { spec: { size } } });
  });

  it.each([
    ['no spec', '', 'spec: Required value'],
    ['a spec of one MiB', `spec: { size: 3, version: "${'3'.repeat(2 ** 20)}" }`, 'spec.version: Too long'],
    ['20 000 nested objects', `spec: { size: 3, pod: { affinity: { podAffinity: ${depths} } } }`, 'depth'],
  ])('with %s is refused', async (_, text, message) => {
    const answer = await offerByKubectl(`${head}${text}`);
    expect(answer).toMatchObject({ accepted: false, message: expect.stringContaining(message) });
  });
});
