import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contract, type Json } from './support.ts';

const { kubectl, say, namespace } = contract('tables');
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

/** One object of each kind; those outside of namespaces are named after ours. */
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
const clusterWide = ['node', 'storageclass', 'pv', 'priorityclass'];

beforeAll(async () => {
  for (const object of objects) await kubectl('create -f -', { input: JSON.stringify(object) });
});
afterAll(async () => {
  for (const kind of clusterWide) await kubectl(`delete ${kind} ${own} --wait=false`);
});

describe('a table shows', () => {
  const age = String.raw`\d+[smhdy]\w*`;
  it.each([
    [`node ${own}`, `^NAME +STATUS +ROLES +AGE +VERSION\n${own} +\\w+ +idle +${age} +v1\n$`],
    [
      `storageclass ${own}`,
      `^NAME +PROVISIONER +RECLAIMPOLICY +VOLUMEBINDINGMODE +ALLOWVOLUMEEXPANSION +AGE\n${own} +example.com/none +Delete +Immediate +true +${age}\n$`,
    ],
    [
      `pv ${own}`,
      `^NAME +CAPACITY +ACCESS MODES +RECLAIM POLICY +STATUS +CLAIM +STORAGECLASS +VOLUMEATTRIBUTESCLASS +REASON +AGE\n${own} +1Gi +RWO +Retain +\\w+ +${own} +<unset> +${age}\n$`,
    ],
    [
      'pvc c',
      `^NAME +STATUS +VOLUME +CAPACITY +ACCESS MODES +STORAGECLASS +VOLUMEATTRIBUTESCLASS +AGE\nc +\\w+ +none +0? +none +<unset> +${age}\n$`,
    ],
    ['endpoints e', `^NAME +ENDPOINTS +AGE\ne +10.1.2.3:80 +${age}\n$`],
    ['endpointslice s', `^NAME +ADDRESSTYPE +PORTS +ENDPOINTS +AGE\ns +IPv4 +80 +10.1.2.3 +${age}\n$`],
    [
      'rs r -o wide',
      `^NAME +DESIRED +CURRENT +READY +AGE +CONTAINERS +IMAGES +SELECTOR\nr +0 +0 +0 +${age} +c +busybox:1 +app=a\n$`,
    ],
    ['job j', `^NAME +STATUS +COMPLETIONS +DURATION +AGE\nj +(Suspended|Running) +0/1 +${age}\n$`],
    ['pdb b', `^NAME +MIN AVAILABLE +MAX UNAVAILABLE +ALLOWED DISRUPTIONS +AGE\nb +N/A +50% +0 +${age}\n$`],
    ['lease l', `^NAME +HOLDER +AGE\nl +me +${age}\n$`],
    [
      `priorityclass ${own}`,
      `^NAME +VALUE +GLOBAL-DEFAULT +AGE +PREEMPTIONPOLICY\n${own} +7 +false +${age} +PreemptLowerPriority\n$`,
    ],
    ['role r', '^NAME +CREATED AT\nr +20\\S+Z\n$'],
    [
      'rolebinding rb -o wide',
      `^NAME +ROLE +AGE +USERS +GROUPS +SERVICEACCOUNTS\nrb +Role/r +${age} +${namespace}/default\n$`,
    ],
    [
      'service headless -o wide',
      `^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\\(S\\) +AGE +SELECTOR\nheadless +ClusterIP +None +<none> +1/TCP +${age} +app=a\n$`,
    ],
    ['event ev', `^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n${age} +Normal +Because +pod/p +it is so\n$`],
  ])('%s', async (what, shown) => {
    expect(await kubectl(`get ${what}`)).toMatch(new RegExp(shown));
  });
});

describe('an event', () => {
  it('is the same in both of its groups', async () => {
    const { body } = await say('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events/ev`);
    expect(body).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      note: 'it is so',
      regarding: { name: 'p' },
      deprecatedCount: 3,
    });
    expect(await kubectl('get events --field-selector involvedObject.name=p -o name')).toBe('event/ev\n');
    expect(await kubectl('get events --field-selector involvedObject.name=q -o name')).toBe('');
  });
});

describe('a review', () => {
  it('of a token says whose it is', async () => {
    const token = (await kubectl('create token default')).trim();
    const spec = { token };
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec };
    const { body } = await say('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body: asked });
    expect(body['status']).toMatchObject({
      authenticated: true,
      user: { username: `system:serviceaccount:${namespace}:default` },
    });
  });

  it('of somebody else says what they may do', async () => {
    const spec = { user: 'nobody', resourceAttributes: { namespace, verb: 'get', resource: 'pods' } };
    const asked = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    const { body } = await say('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { body: asked });
    expect(body['status']).toMatchObject({ allowed: false });
  });
});
