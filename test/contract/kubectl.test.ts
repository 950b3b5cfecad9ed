import { describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { configMap, contract, type Json } from './support.ts';

const { kubectl, namespace } = contract('kubectl');

const deployment = (replicas: number): string =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'd' } },
      template: {
        metadata: { labels: { app: 'd' } },
        spec: { containers: [{ name: 'c', image: 'busybox:1', ports: [{ containerPort: 80 }] }] },
      },
    },
  });

describe('kubectl', () => {
  it('prints the server version, resources and API versions', async () => {
    expect(await kubectl('version')).toContain('Server Version: v1.36');
    // kubectl reads group after group, and fails if another test file deletes a CRD in between.
    const resources = await until('no group is deleted meanwhile', () => kubectl('api-resources --no-headers'));
    for (const line of [
      /^pods +po +v1 +true +Pod$/m,
      /^deployments +deploy +apps\/v1 +true +Deployment$/m,
      /^poddisruptionbudgets +pdb +policy\/v1 /m,
    ])
      expect(resources).toMatch(line);
    expect(await kubectl('api-versions')).toContain('rbac.authorization.k8s.io/v1\n');
    expect(await kubectl.refused('get unicorns')).toContain('the server doesn\'t have a resource type "unicorns"');
  });

  it('explain prints the fields of a kind', async () => {
    const explained = await kubectl('explain pod.spec.containers');
    expect(explained).toMatch(/FIELD: containers <\[\]Container>/);
    expect(explained).toMatch(/^ {2}image\t<string>/m);
    expect(await kubectl('explain deployment --recursive')).toMatch(/strategy\t<DeploymentStrategy>/);
  });

  it('create makes a ConfigMap, a Secret and a ServiceAccount', async () => {
    await kubectl('create configmap made --from-literal=a=b');
    await kubectl('create secret generic hidden --from-literal=a=b');
    await kubectl('create serviceaccount worker');
    expect(await kubectl('get configmap made -o jsonpath={.data.a}')).toBe('b');
    expect(await kubectl('get secret hidden -o jsonpath={.data.a}/{.type}')).toBe('Yg==/Opaque');
    expect(await kubectl('get serviceaccounts --no-headers')).toMatch(/^default +\d+[sm]\w*\nworker +\d+[sm]\w*\n$/);
    expect(await kubectl.refused('create configmap made')).toContain('configmaps "made" already exists');
  });

  it('get prints a table with the columns of each kind', async () => {
    await kubectl('apply -f -', { input: JSON.stringify(configMap('shown', { data: { a: '1', b: '2' } })) });
    expect(await kubectl('get configmap shown')).toMatch(/^NAME +DATA +AGE\nshown +2 +\d+[sm]\w*\n$/);
    expect(await kubectl('get configmap shown -o name')).toBe('configmap/shown\n');
    expect(await kubectl('get configmap shown --show-labels')).toMatch(/LABELS\n.*<none>/);
    expect(await kubectl('get namespaces default')).toMatch(/^NAME +STATUS +AGE\ndefault +Active +\S+\n$/);
    expect(await kubectl('get services kubernetes', {}, 'default')).toMatch(
      /NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE\nkubernetes +ClusterIP +10\.\S+ +<none> +443\/TCP /,
    );
  });

  it('applies, edits, patches, scales, labels and describes a deployment', async () => {
    await kubectl('apply -f -', { input: deployment(0) });
    expect(await kubectl('apply -f -', { input: deployment(0) })).toBe('deployment.apps/d unchanged\n');
    // diff reads the object twice, and fails if the Deployment controller writes its annotation and status in between.
    const diff = await until('diff succeeds', () => kubectl('diff -f -', { input: deployment(0) }));
    expect(diff).toBe('');
    expect(await kubectl('get deployment d')).toMatch(
      /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nd +0\/0 +0 +0 +\d+[sm]\w*\n$/,
    );
    await kubectl(
      'patch deployment d -p \'{"spec":{"template":{"spec":{"containers":[{"name":"more","image":"busybox:2"}]}}}}\'',
    );
    expect(await kubectl('get deployment d -o jsonpath={.spec.template.spec.containers[*].name}')).toBe('more c');
    await kubectl('set image deployment/d more=busybox:3');
    await kubectl('patch deployment d --type=json -p \'[{"op":"remove","path":"/spec/template/spec/containers/0"}]\'');
    expect(await kubectl('get deployment d -o jsonpath={.spec.template.spec.containers[*].image}')).toBe('busybox:1');
    await kubectl('scale deployment d --replicas=0 --current-replicas=0');
    await kubectl('label deployment d colour=red');
    await kubectl('annotate deployment d note=x');
    expect(await kubectl('get deployments -l colour=red -o name')).toBe('deployment.apps/d\n');
    expect(await kubectl('get deployments -l colour!=red -o name')).toBe('');
    expect(await kubectl('describe deployment d')).toMatch(/Replicas: +0 desired/);
    process.env['KUBE_EDITOR'] = 'sed -i s/colour:.red/colour:\\ blue/';
    await kubectl('edit deployment d');
    expect(await kubectl('get deployment d -o jsonpath={.metadata.labels.colour}')).toBe('blue');
    const stored = await kubectl.json<{ metadata: Json; spec: Json }>('get deployment d');
    expect(stored.metadata['generation']).toBeGreaterThan(2);
    expect(stored.spec).toMatchObject({ strategy: { type: 'RollingUpdate' }, revisionHistoryLimit: 10 });
    await kubectl('delete deployment d');
  });

  it('create --dry-run=server stores nothing, and strict validation rejects unknown fields', async () => {
    const input = JSON.stringify({ ...configMap('tried'), unknown: 1 });
    expect(await kubectl.refused('create -f -', { input })).toMatch(/strict decoding error: unknown field "unknown"/);
    expect(await kubectl('create --validate=ignore --dry-run=server -f -', { input })).toContain(
      'created (server dry run)',
    );
    expect(await kubectl.refused('get configmap tried')).toContain('configmaps "tried" not found');
    expect(await kubectl.refused('create -f -', { input: JSON.stringify(configMap('Not_a_name')) })).toContain(
      'metadata.name: Invalid value: "Not_a_name": a lowercase RFC 1123 subdomain',
    );
  });

  it('create takes several objects in one List, and rejects a List with an unknown field in one of them', async () => {
    const list = (...items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const wrong = { ...configMap('in-a-list'), unknown: 1 };
    expect(await kubectl.refused('create -f -', { input: list(wrong) })).toContain('unknown field "unknown"');
    const both = list(configMap('in-a-list'), configMap('in-it-too'));
    expect(await kubectl('create -f -', { input: both })).toBe(
      'configmap/in-a-list created\nconfigmap/in-it-too created\n',
    );
    const exported = await kubectl('get configmaps in-a-list in-it-too -o yaml');
    expect(await kubectl('apply -f -', { input: exported })).toContain('configmap/in-it-too');
  });

  it('wait returns when the object is created, and when it is deleted', async () => {
    const waiting = kubectl('wait configmap/coming --for=create --timeout=20s');
    await kubectl('create configmap coming');
    expect(await waiting).toBe('configmap/coming condition met\n');
    const gone = kubectl('wait configmap/coming --for=delete --timeout=20s');
    await kubectl('delete configmap coming');
    await gone;
    expect(await kubectl.refused('create configmap x -n nowhere')).toContain('namespaces "nowhere" not found');
    expect(namespace).toContain('contract');
  });

  it('auth can-i and auth whoami report the permissions and groups of the user', async () => {
    expect(await kubectl('auth can-i delete pods')).toBe('yes\n');
    expect(await kubectl('describe clusterrole cluster-admin')).toMatch(/\*\.\* +\[\] +\[\] +\[\*\]/);
    expect(await kubectl('auth whoami -o jsonpath={.status.userInfo.groups}')).toContain('system:authenticated');
  });
});
