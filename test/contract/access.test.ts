import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubeconfigPath } from '../support/kube-connection.ts';
import { until } from '../support/until.ts';
import { contract } from './support.ts';

const { kubectl, namespace } = contract('access');
const path = join(dirname(kubeconfigPath()), `${namespace}.kubeconfig`);

/** A kubeconfig for a service account, made as a user would make it. */
async function kubeconfigFor(account: string): Promise<void> {
  const token = (await kubectl(`create token ${account}`)).trim();
  const config = JSON.parse(await kubectl('config view --raw --minify -o json')) as { users: { user: object }[] };
  for (const one of config.users) one.user = { token };
  await writeFile(path, JSON.stringify(config));
}

beforeAll(async () => {
  await kubectl('create serviceaccount reader');
  await kubectl('create role reading --verb=get,list,watch --resource=configmaps');
  await kubectl(`create rolebinding reading --role=reading --serviceaccount=${namespace}:reader`);
  await kubeconfigFor('reader');
});
afterAll(() => rm(path, { force: true }));

const asReader = (words: string): Promise<string> => kubectl(`--kubeconfig ${path} ${words}`);
const refusedReader = (words: string): Promise<string> => kubectl.refused(`--kubeconfig ${path} ${words}`);

describe('a service account', () => {
  it('may do what its roles allow, and nothing else', async () => {
    expect(await asReader('get configmap kube-root-ca.crt -o name')).toBe('configmap/kube-root-ca.crt\n');
    const who = `User "system:serviceaccount:${namespace}:reader"`;
    expect(await refusedReader('get secrets')).toContain(
      `secrets is forbidden: ${who} cannot list resource "secrets" in API group "" in the namespace "${namespace}"`,
    );
    expect(await refusedReader('delete configmap kube-root-ca.crt')).toContain(
      `configmaps "kube-root-ca.crt" is forbidden: ${who} cannot delete`,
    );
    expect(await refusedReader('get configmaps -A')).toContain('at the cluster scope');
    expect(await refusedReader('get nodes')).toContain('nodes is forbidden');
  });

  it('can ask what that is', async () => {
    expect(await asReader('auth can-i list configmaps')).toBe('yes\n');
    expect(await refusedReader('auth can-i create pods')).toBe('');
    expect(await asReader('auth can-i --list')).toMatch(/configmaps +\[\] +\[\] +\[get list watch\]/);
  });

  it('is nobody with a token that is none', async () => {
    expect(await kubectl.refused(`--kubeconfig ${path} --token=nonsense get configmaps`)).toMatch(
      /Unauthorized|must be logged in/,
    );
  });
});

describe('an administrator', () => {
  const asReaderOf = (words: string): string => `${words} --as=system:serviceaccount:${namespace}:reader`;

  it('may ask as somebody else, who may do no more than that', async () => {
    expect(await kubectl(asReaderOf('get configmap kube-root-ca.crt -o name'))).toBe('configmap/kube-root-ca.crt\n');
    expect(await kubectl.refused(asReaderOf('get secrets'))).toContain(
      `User "system:serviceaccount:${namespace}:reader" cannot list resource "secrets"`,
    );
    expect(await kubectl.refused('get secrets --as=jane')).toContain('secrets is forbidden: User "jane" cannot list');
    expect(await kubectl('get secrets -o name --as=jane --as-group=devs --as-group=system:masters')).toBe('');
  });

  it('is the only one who may', async () => {
    expect(await refusedReader('get configmaps --as=jane')).toContain(
      `is forbidden: User "system:serviceaccount:${namespace}:reader" cannot impersonate`,
    );
  });
});

describe('a role that is made of others', () => {
  it('holds what they hold', async () => {
    const name = namespace;
    const rules = [{ apiGroups: [name], resources: ['things'], verbs: ['get'] }];
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name, labels }, rules };
    await kubectl('apply -f -', { input: JSON.stringify(role) });
    try {
      const viewed = async () => (await kubectl('get clusterrole view -o json')).includes(`"${name}"`) || undefined;
      await until('the role is a part of view', viewed);
    } finally {
      await kubectl(`delete clusterrole ${name}`);
    }
  });
});

describe('a pod', () => {
  it('gets a token of its service account, and defaults', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: {
        nodeName: 'ghost',
        containers: [{ name: 'c', image: 'busybox', resources: { limits: { cpu: '1000m', memory: '1024Mi' } } }],
      },
    };
    await kubectl('create -f -', { input: JSON.stringify(pod) });
    const { spec, status } = await kubectl.json<{ spec: Record<string, unknown>; status: object }>('get pod p');
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
    const change = 'patch pod p --type=json -p \'[{"op":"replace","path":"/spec/restartPolicy","value":"Never"}]\'';
    expect(await kubectl.refused(change)).toContain('spec: Forbidden: pod updates may not change fields other than');
    await kubectl('set image pod/p c=busybox:2');
    await kubectl('delete pod p --force --grace-period=0');
    const other = { ...pod, spec: { ...pod.spec, serviceAccountName: 'nobody' } };
    expect(await kubectl.refused('create -f -', { input: JSON.stringify(other) })).toContain(
      'serviceaccount "nobody" not found',
    );
  });

  it('service gets an address, and keeps it', async () => {
    await kubectl('create service clusterip web --tcp=80:8080');
    const address = await kubectl('get service web -o jsonpath={.spec.clusterIP}');
    expect(address).toMatch(/^10\./);
    await kubectl('label service web a=b');
    expect(await kubectl('get service web -o jsonpath={.spec.clusterIP}/{.spec.ports[0].targetPort}')).toBe(
      `${address}/8080`,
    );
    expect(await kubectl.refused('patch service web -p \'{"spec":{"clusterIP":"10.96.77.77"}}\'')).toContain(
      'may not change once set',
    );
  });
});
