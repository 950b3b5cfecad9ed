import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contract, done, type Json } from './support.ts';

const { kubectl, request, create, pathOf, namespace } = contract('tables');
const own = namespace;

const template = {
  metadata: { labels: { app: 'a' } },
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox:1' }] },
};
const always = { ...template, spec: { containers: template.spec.containers } };
const selector = { matchLabels: { app: 'a' } };
const storage = { requests: { storage: '1024Mi' } };

const nodeInfo = Object.fromEntries(
  [
    'machineID',
    'systemUUID',
    'bootID',
    'kernelVersion',
    'osImage',
    'containerRuntimeVersion',
    'kubeletVersion',
    'kubeProxyVersion',
    'operatingSystem',
    'architecture',
  ].map((field) => [field, 'v1']),
);

/** One object of each kind. Cluster-scoped objects have the name of the test's namespace. */
const objects: readonly Json[] = [
  {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: own, labels: { 'node-role.kubernetes.io/idle': '' } },
    status: { nodeInfo },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: own },
    provisioner: 'example.com/none',
    allowVolumeExpansion: true,
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: own },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: own,
      hostPath: { path: '/nowhere' },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: storage, storageClassName: 'none', volumeName: 'none' },
  },
  {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'e' },
    subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }],
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 's' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.2.3'] }],
    ports: [{ port: 80 }],
  },
  {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'r' },
    spec: { replicas: 0, selector, template: always },
  },
  { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { suspend: true, template } },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'b' },
    spec: { maxUnavailable: '50%', selector },
  },
  { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: { holderIdentity: 'me' } },
  { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: own }, value: 7 },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r' }, rules: [] },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'rb' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace }],
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'headless' },
    spec: { clusterIP: 'None', selector: { app: 'a' }, ports: [{ name: 'x', port: 1 }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'ev' },
    type: 'Normal',
    reason: 'Because',
    message: 'it is so',
    involvedObject: { kind: 'Pod', namespace, name: 'p' },
    firstTimestamp: '2020-01-01T00:00:00Z',
    lastTimestamp: '2020-01-01T00:00:00Z',
    count: 3,
    source: { component: 'me' },
  },
];
const clusterWide = new Set(['Node', 'StorageClass', 'PersistentVolume', 'PriorityClass']);

beforeAll(async () => {
  for (const object of objects) await done(create(object));
});
afterAll(async () => {
  for (const object of objects.filter(({ kind }) => clusterWide.has(String(kind))))
    await request('DELETE', await pathOf(object));
});

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

/** Prints the server's Table of one object in kubectl's layout. */
async function tableOf(kind: string, isWide: boolean): Promise<string> {
  const object = objects.find((each) => each['kind'] === kind) ?? {};
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const table = (await done(request('GET', await pathOf(object), { accept }))) as unknown as Table;
  const shown = table.columnDefinitions.map(({ priority }) => isWide || priority === 0);
  const names = table.columnDefinitions.map(({ name }) => name.toUpperCase());
  const lines = [names, ...table.rows.map(({ cells }) => cells)];
  return lines.map((cells) => `${cells.filter((_, index) => shown[index]).join('   ')}\n`).join('');
}

describe('a Table response', () => {
  const age = String.raw`\d+[smhdy]\w*`;
  const wide = new Set(['ReplicaSet', 'RoleBinding', 'Service']);
  const shown: readonly (readonly [kind: string, wanted: string])[] = [
    ['Node', `^NAME +STATUS +ROLES +AGE +VERSION\n${own} +\\w+ +idle +${age} +v1\n$`],
    [
      'StorageClass',
      `^NAME +PROVISIONER +RECLAIMPOLICY +VOLUMEBINDINGMODE +ALLOWVOLUMEEXPANSION +AGE\n${own} +example.com/none +Delete +Immediate +true +${age}\n$`,
    ],
    [
      'PersistentVolume',
      `^NAME +CAPACITY +ACCESS MODES +RECLAIM POLICY +STATUS +CLAIM +STORAGECLASS +VOLUMEATTRIBUTESCLASS +REASON +AGE\n${own} +1Gi +RWO +Retain +\\w+ +${own} +<unset> +${age}\n$`,
    ],
    [
      'PersistentVolumeClaim',
      `^NAME +STATUS +VOLUME +CAPACITY +ACCESS MODES +STORAGECLASS +VOLUMEATTRIBUTESCLASS +AGE\nc +\\w+ +none +0? +none +<unset> +${age}\n$`,
    ],
    ['Endpoints', `^NAME +ENDPOINTS +AGE\ne +10.1.2.3:80 +${age}\n$`],
    ['EndpointSlice', `^NAME +ADDRESSTYPE +PORTS +ENDPOINTS +AGE\ns +IPv4 +80 +10.1.2.3 +${age}\n$`],
    [
      'ReplicaSet',
      `^NAME +DESIRED +CURRENT +READY +AGE +CONTAINERS +IMAGES +SELECTOR\nr +0 +0 +0 +${age} +c +busybox:1 +app=a\n$`,
    ],
    ['Job', `^NAME +STATUS +COMPLETIONS +DURATION +AGE\nj +(Suspended|Running) +0/1 +${age}\n$`],
    [
      'PodDisruptionBudget',
      `^NAME +MIN AVAILABLE +MAX UNAVAILABLE +ALLOWED DISRUPTIONS +AGE\nb +N/A +50% +0 +${age}\n$`,
    ],
    ['Lease', `^NAME +HOLDER +AGE\nl +me +${age}\n$`],
    [
      'PriorityClass',
      `^NAME +VALUE +GLOBAL-DEFAULT +AGE +PREEMPTIONPOLICY\n${own} +7 +false +${age} +PreemptLowerPriority\n$`,
    ],
    ['Role', '^NAME +CREATED AT\nr +20\\S+Z\n$'],
    ['RoleBinding', `^NAME +ROLE +AGE +USERS +GROUPS +SERVICEACCOUNTS\nrb +Role/r +${age} +${namespace}/default\n$`],
    [
      'Service',
      `^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\\(S\\) +AGE +SELECTOR\nheadless +ClusterIP +None +<none> +1/TCP +${age} +app=a\n$`,
    ],
    ['Event', `^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n${age} +Normal +Because +pod/p +it is so\n$`],
  ];
  it.each(shown)('has the columns and cells of a %s', async (kind, wanted) => {
    expect(await tableOf(kind, wide.has(kind))).toMatch(new RegExp(wanted));
  });

  it.each([
    ['PersistentVolume', `pv ${own}`],
    ['RoleBinding', 'rolebinding rb -o wide'],
    ['Event', 'event ev'],
  ])('of a %s is printed by kubectl get', async (kind, target) => {
    const [, wanted = 'no table'] = shown.find(([each]) => each === kind) ?? [];
    expect(await kubectl(`get ${target}`)).toMatch(new RegExp(wanted));
  });
});

describe('an Event', () => {
  it('is the same object in the core group and in events.k8s.io', async () => {
    const { body } = await request('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events/ev`);
    expect(body).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      note: 'it is so',
      regarding: { name: 'p' },
      deprecatedCount: 3,
    });
    const about = async (name: string): Promise<unknown> => {
      const query = `fieldSelector=involvedObject.name%3D${name}`;
      return (await done(request('GET', `/api/v1/namespaces/${namespace}/events?${query}`)))['items'];
    };
    expect(await about('p')).toMatchObject([{ metadata: { name: 'ev' } }]);
    expect(await about('q')).toEqual([]);
  });
});

describe('an access review', () => {
  it('of a token returns its service account (TokenReview)', async () => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`;
    const { status } = await done(request('POST', path, { body: { spec: {} } }));
    const spec = { token: (status as { token: string }).token };
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec };
    const { body } = await request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body: review });
    expect(body['status']).toMatchObject({
      authenticated: true,
      user: { username: `system:serviceaccount:${namespace}:default` },
    });
  });

  it('of another user returns whether a request is allowed (SubjectAccessReview)', async () => {
    const spec = { user: 'jane', resourceAttributes: { namespace, verb: 'get', resource: 'pods' } };
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    const { body } = await request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { body: review });
    expect(body['status']).toMatchObject({ allowed: false });
  });
});
