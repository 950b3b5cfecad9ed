import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromKubeconfig } from '../../src/kube/config.ts';
import { kubeconfigPath } from '../support/kube-connection.ts';
import { until } from '../support/until.ts';
import { type Server, serverOf } from './server.ts';
import { contract, done, refusal } from './support.ts';

const { kubectl, create, patch, request, namespace } = contract('access');
const core = `/api/v1/namespaces/${namespace}`;
const path = join(dirname(kubeconfigPath()), `${namespace}.kubeconfig`);
const readerUser = `User "system:serviceaccount:${namespace}:reader"`;

let reader: Server;

/** A client that authenticates with a bearer token and without a client certificate. */
async function serverFor(token: string): Promise<Server> {
  const admin = await fromKubeconfig(kubeconfigPath());
  const tls = async () => ({ ...(await admin.tls()), cert: undefined, key: undefined });
  return serverOf({ ...admin, tls, headers: async () => ({ authorization: `Bearer ${token}` }) });
}

/** Writes a kubeconfig for a service account, as a user would. */
async function kubeconfigFor(token: string): Promise<void> {
  const config = JSON.parse(await kubectl('config view --raw --minify -o json')) as { users: { user: object }[] };
  for (const one of config.users) one.user = { token };
  await writeFile(path, JSON.stringify(config));
}

beforeAll(async () => {
  const rbac = 'rbac.authorization.k8s.io';
  const role = { apiGroup: rbac, kind: 'Role', name: 'reading' };
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }];
  const subjects = [{ kind: 'ServiceAccount', name: 'reader', namespace }];
  const metadata = { name: 'reading' };
  await done(create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader' } }));
  await done(create({ apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules }));
  await done(create({ apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata, roleRef: role, subjects }));
  const token = (await kubectl('create token reader')).trim();
  await kubeconfigFor(token);
  reader = await serverFor(token);
  // The server's RBAC cache may take a moment to see the new RoleBinding.
  await until('the reader may read', () => done(reader.request('GET', `${core}/configmaps`)));
});
afterAll(async () => {
  await reader.close();
  await rm(path, { force: true });
});

const asReader = (command: string): Promise<string> => kubectl(`--kubeconfig ${path} ${command}`);
const refusedReader = (command: string): Promise<string> => kubectl.refused(`--kubeconfig ${path} ${command}`);

describe('a service account', () => {
  it('may do what its Roles allow and nothing else', async () => {
    const { request: ask } = reader;
    expect(await asReader('get configmap kube-root-ca.crt -o name')).toBe('configmap/kube-root-ca.crt\n');
    expect(await refusedReader('get secrets')).toContain(
      `secrets is forbidden: ${readerUser} cannot list resource "secrets" in API group "" in the namespace "${namespace}"`,
    );
    expect(await refusal(ask('DELETE', `${core}/configmaps/kube-root-ca.crt`))).toContain(
      `configmaps "kube-root-ca.crt" is forbidden: ${readerUser} cannot delete`,
    );
    expect(await refusal(ask('GET', '/api/v1/configmaps'))).toContain('at the cluster scope');
    expect(await refusal(ask('GET', '/api/v1/nodes'))).toContain('nodes is forbidden');
  });

  it('lists its own permissions with kubectl auth can-i', async () => {
    expect(await asReader('auth can-i list configmaps')).toBe('yes\n');
    expect(await refusedReader('auth can-i create pods')).toBe('');
    expect(await asReader('auth can-i --list')).toMatch(/configmaps +\[\] +\[\] +\[get list watch\]/);
  });

  it('gets 401 Unauthorized with an invalid token', async () => {
    const unauthenticated = await serverFor('nonsense');
    expect(await unauthenticated.request('GET', `${core}/configmaps`)).toMatchObject({
      code: 401,
      body: { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized' },
    });
    await unauthenticated.close();
  });
});

describe('an administrator', () => {
  const as = (user: string) => ({ headers: { 'impersonate-user': user } });
  const asReaderOf = as(`system:serviceaccount:${namespace}:reader`);

  it('impersonates another user and gets only the permissions of that user', async () => {
    expect(await done(request('GET', `${core}/configmaps/kube-root-ca.crt`, asReaderOf))).toMatchObject({
      metadata: { name: 'kube-root-ca.crt' },
    });
    expect(await refusal(request('GET', `${core}/secrets`, asReaderOf))).toContain(
      `${readerUser} cannot list resource "secrets"`,
    );
    expect(await refusal(request('GET', `${core}/secrets`, as('jane')))).toContain(
      'secrets is forbidden: User "jane" cannot list',
    );
    expect(await kubectl('get secrets -o name --as=jane --as-group=devs --as-group=system:masters')).toBe('');
  });

  it('may impersonate; a service account without that permission may not', async () => {
    expect(await refusal(reader.request('GET', `${core}/configmaps`, as('jane')))).toContain(
      `is forbidden: ${readerUser} cannot impersonate`,
    );
  });
});

describe('an aggregated ClusterRole', () => {
  it('contains the rules of the ClusterRoles that it selects', async () => {
    const name = namespace;
    const rules = [{ apiGroups: [name], resources: ['things'], verbs: ['get'] }];
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    await done(request('POST', roles, { body: { metadata: { name, labels }, rules } }));
    try {
      const viewed = async () => JSON.stringify(await done(request('GET', `${roles}/view`))).includes(`"${name}"`);
      await until('the role is a part of view', async () => (await viewed()) || undefined);
    } finally {
      await done(request('DELETE', `${roles}/${name}`));
    }
  });
});

describe('a created object', () => {
  it('is defaulted: a pod gets a service account token volume, policies, tolerations and a QoS class', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: {
        nodeName: 'ghost',
        containers: [{ name: 'c', image: 'busybox', resources: { limits: { cpu: '1000m', memory: '1024Mi' } } }],
      },
    };
    const { spec, status } = await done(create(pod));
    expect(spec).toMatchObject({
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      terminationGracePeriodSeconds: 30,
      schedulerName: 'default-scheduler',
      containers: [
        {
          imagePullPolicy: 'Always',
          terminationMessagePath: '/dev/termination-log',
          resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } },
          volumeMounts: [{ mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }],
        },
      ],
      volumes: [
        {
          projected: {
            sources: [
              { serviceAccountToken: { path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt' } },
              { downwardAPI: {} },
            ],
          },
        },
      ],
      tolerations: [{ key: 'node.kubernetes.io/not-ready' }, { key: 'node.kubernetes.io/unreachable' }],
    });
    expect(status).toMatchObject({ phase: 'Pending', qosClass: 'Guaranteed' });
    const replaced = [{ op: 'replace', path: '/spec/restartPolicy', value: 'Never' }];
    expect(await refusal(patch(`${core}/pods/p`, replaced, 'json'))).toContain(
      'spec: Forbidden: pod updates may not change fields other than',
    );
    const newer = { spec: { containers: [{ name: 'c', image: 'busybox:2' }] } };
    expect(await done(patch(`${core}/pods/p`, newer, 'strategic'))).toMatchObject(newer);
    await done(request('DELETE', `${core}/pods/p?gracePeriodSeconds=0`));
    const other = { ...pod, spec: { ...pod.spec, serviceAccountName: 'missing' } };
    expect(await refusal(create(other))).toContain('serviceaccount "missing" not found');
  });

  it('is defaulted: a Service gets a cluster IP, which is immutable', async () => {
    const made = { ports: [{ port: 80, targetPort: 8080 }], selector: { app: 'web' } };
    const { spec } = await done(create({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec: made }));
    const { clusterIP } = spec as { clusterIP: string };
    expect(clusterIP).toMatch(/^10\./);
    const web = `${core}/services/web`;
    await done(patch(web, { metadata: { labels: { a: 'b' } } }));
    expect(await done(request('GET', web))).toMatchObject({ spec: { clusterIP, ports: [{ targetPort: 8080 }] } });
    expect(await refusal(patch(web, { spec: { clusterIP: '10.96.77.77' } }, 'strategic'))).toContain(
      'may not change once set',
    );
  });
});
