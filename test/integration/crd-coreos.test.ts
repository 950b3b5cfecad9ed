import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { etcdClusterCrd } from '../../src/dialects/coreos-v1beta2/crd.ts';
import { readEtcdCluster } from '../../src/dialects/coreos-v1beta2/read.ts';
import { kubectlIn } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { etcdCluster, kubectl, namespace, root, withDefinition } from './crd-coreos-support.ts';

const apply = (object: unknown) => kubectl('apply -f -', { input: JSON.stringify(object) });
const applyRefused = (object: unknown) => kubectl.refused('apply -f -', { input: JSON.stringify(object) });

withDefinition();

describe('kubectl', () => {
  it('finds the kind by its short names, and answers "is it well?"', async () => {
    await apply(etcdCluster({ version: '3.7.3' }, { name: 'columns' }));
    const status = {
      phase: 'Running',
      readyMembers: 3,
      currentVersion: '3.7.3',
      conditions: [{ type: 'Available', status: 'True', reason: 'Cluster available' }],
    };
    await kubectl(`patch etcdcluster columns --subresource=status --type=merge -p '${JSON.stringify({ status })}'`);
    const [head = '', row = ''] = (await kubectl('get etcd columns')).split('\n');
    expect(head.split(/\s+/)).toEqual(['NAME', 'SIZE', 'READY', 'VERSION', 'PHASE', 'AVAILABLE', 'AGE']);
    expect(row.split(/\s+/).slice(0, -1)).toEqual(['columns', '3', '3', '3.7.3', 'Running', 'True']);
    expect(await kubectl('get etcdclus columns -o wide')).toContain('WANTED');
  });

  it('explains the fields', async () => {
    expect(await kubectl('explain etcdcluster.spec.size')).toContain('How many members the cluster has');
    expect(await kubectl('explain etcdcluster.spec.pod.persistentVolumeClaimSpec')).toContain(
      'A volume claim for each',
    );
  });

  it('scales, but not out of bounds', async () => {
    await apply(etcdCluster({}, { name: 'scaled' }));
    await kubectl('scale etcdcluster scaled --replicas=5');
    expect(await kubectl('get etcdcluster scaled -o jsonpath={.spec.size}')).toBe('5');
    expect(await kubectl.refused('scale etcdcluster scaled --replicas=0')).toContain('must be from 1 to 9');
    expect(await kubectl.refused('scale etcdcluster scaled --replicas=10')).toContain('must be from 1 to 9');
  });

  it('shows what is left out as it is filled in, as in the book', async () => {
    await apply(etcdCluster({}, { name: 'filled-in' }));
    const described = await kubectl('describe etcdcluster filled-in');
    expect(described.slice(described.indexOf('Spec:'))).toMatch(
      /^Spec:\n\s+Repository:\s+quay.io\/coreos\/etcd\n\s+Size:\s+3\n\s+Version:\s+3.2.13\nEvents:/,
    );
  });

  it('patches the version as the book does, without quotes', async () => {
    await apply(etcdCluster({}, { name: 'patched' }));
    await kubectl(
      `patch etcdcluster patched --type=json -p '[{"op": "replace", "path": "/spec/version", "value":3.3.12}]'`,
    );
    expect(await kubectl('get etcdcluster patched -o jsonpath={.spec.version}')).toBe('3.3.12');
  });
});

describe('a bad change', () => {
  it('is refused and changes nothing; the right one is then accepted', async () => {
    await apply(etcdCluster({ version: '3.5.21' }, { name: 'changed' }));
    expect(await applyRefused(etcdCluster({ version: 'latest' }, { name: 'changed' }))).toContain('spec.version');
    expect(await kubectl('get etcdcluster changed -o jsonpath={.spec.version}')).toBe('3.5.21');
    await apply(etcdCluster({ version: '3.5.22' }, { name: 'changed' }));
    expect(await kubectl('get etcdcluster changed -o jsonpath={.spec.version}')).toBe('3.5.22');
  });

  it('of the status is limited to what makes sense, and never reaches the spec', async () => {
    await apply(etcdCluster({}, { name: 'forged' }));
    const forge = (change: unknown) =>
      `patch etcdcluster forged --subresource=status --type=merge -p '${JSON.stringify(change)}'`;
    const names = Array.from({ length: 65 }, (_, i) => `m${i}`);
    expect(await kubectl.refused(forge({ status: { members: { ready: names } } }))).toContain(
      'status.members.ready: Too many',
    );
    expect(await kubectl.refused(forge({ status: { clusterId: 'mine!' } }))).toContain('status.clusterId');
    expect(await kubectl.refused(forge({ status: { phase: 'Dancing' } }))).toContain('status.phase: Unsupported value');
    await kubectl(forge({ spec: { size: 9 }, status: { size: 7 } }));
    expect(await kubectl('get etcdcluster forged -o jsonpath={.spec.size}/{.status.size}')).toBe('3/7');
  });
});

describe('the same name', () => {
  it('can be used in two namespaces', async () => {
    await apply(etcdCluster({}, { name: 'twin' }));
    const twin = JSON.stringify(etcdCluster({}, { name: 'twin' }));
    await kubectlIn('default')('create --dry-run=server -f -', { input: twin });
  });
});

describe('an object that was stored before there was a schema', () => {
  const group = 'before.etcd-operator.test';
  const kind = `oldetcdclusters.${group}`;
  const shipped = JSON.stringify(etcdClusterCrd()).replaceAll('etcd.database.coreos.com', group);
  const { spec, ...head } = JSON.parse(shipped) as ReturnType<typeof etcdClusterCrd>;
  // Names of its own, so that kubectl never takes it for the one that the other tests are about.
  const names = { kind: 'OldEtcdCluster', plural: 'oldetcdclusters' };
  const metadata = { name: kind };
  const ours = { ...head, metadata, spec: { ...spec, names } };
  const schemaless = {
    name: 'v1beta2',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  };
  const theirs = { ...head, metadata, spec: { ...spec, names, versions: [schemaless] } };
  const wrong = etcdCluster({ size: 0, version: 'latest', pod: { labels: { app: 'mine' } } }, { name: 'has.dots' });
  const definition = `crd/${kind}`;
  afterAll(() => kubectl(`delete ${definition} --ignore-not-found`));

  it('can be read about, written about, set right and deleted under ours', async () => {
    await apply(theirs);
    await kubectl(`wait ${definition} --for=condition=Established --timeout=30s`);
    const input = JSON.stringify({ ...wrong, apiVersion: `${group}/v1beta2`, kind: names.kind });
    await until('the old kind is served', () => kubectl('create -f -', { input }));
    await apply(ours);
    await until('the new schema is in force', async () => {
      const patch = `patch ${kind} has.dots --dry-run=server --type=merge`;
      const answer = await kubectl.refused(`${patch} -p '{"spec":{"size":-1}}'`);
      return answer.includes('spec.size') ? answer : undefined;
    });

    const read = readEtcdCluster(await kubectl.json(`get ${kind} has.dots`));
    expect(read.ok ? [] : read.problems.map(({ path }) => path)).toEqual([
      'metadata.name',
      'spec.size',
      'spec.version',
      'spec.pod.labels',
    ]);

    await kubectl(
      `patch ${kind} has.dots --subresource=status --type=merge -p '{"status":{"phase":"Failed","reason":"x"}}'`,
    );
    await kubectl(`annotate ${kind} has.dots note=kept`);
    await kubectl(`patch ${kind} has.dots --type=merge -p '{"spec":{"size":3}}'`);
    expect(await kubectl.refused(`patch ${kind} has.dots --type=merge -p '{"spec":{"size":0}}'`)).toContain(
      'spec.size',
    );
    await kubectl(`patch ${kind} has.dots --type=merge -p '{"metadata":{"finalizers":["example.com/wait"]}}'`);
    await kubectl(`delete ${kind} has.dots --wait=false`);
    await kubectl(`patch ${kind} has.dots --type=merge -p '{"metadata":{"finalizers":null}}'`);
    expect(await kubectl.refused(`get ${kind} has.dots`)).toContain('not found');
  });
});

describe('the manifests', () => {
  const files = (directory: string): readonly string[] =>
    readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.yaml'))
      .toSorted()
      .map((file) => join(root, directory, file));
  const objectsIn = (file: string): readonly Record<string, unknown>[] =>
    parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Record<string, unknown>);

  it.each(files('examples/coreos'))('%s applies', async (file) => {
    const [object = {}] = objectsIn(file);
    const dryRun = object['kind'] === 'CustomResourceDefinition' ? ['--server-side'] : ['--dry-run=server'];
    await kubectl(`apply ${dryRun.join(' ')} -f ${file}`);
    if (object['kind'] === 'CustomResourceDefinition')
      await kubectl(`wait -f ${file} --for=condition=Established --timeout=30s`);
    if (object['kind'] !== 'EtcdCluster') return;
    const stored = await kubectl.json(`create --dry-run=server -f ${file}`);
    expect(readEtcdCluster(stored).ok).toBe(true);
  });

  it.each(files('deploy/coreos'))('%s applies', async (file) => {
    // A dry run keeps no namespace for the next file, so what lies in it is tried in another.
    const elsewhere = readFileSync(file, 'utf8').replaceAll('namespace: etcd-operator', `namespace: ${namespace}`);
    await kubectl('apply --dry-run=server -f -', { input: elsewhere });
  });

  it('give the cluster-wide operator the rights of the namespaced one, no more and no less', () => {
    const rulesIn = (file: string): readonly string[] =>
      objectsIn(join(root, file))
        .flatMap(({ rules }) => (rules ?? []) as readonly unknown[])
        .map((rule) => JSON.stringify(rule));
    expect(rulesIn('deploy/coreos/operator-roles.yaml')).toEqual(rulesIn('examples/coreos/etcd-operator-role.yaml'));
  });

  it('have pods that are admitted where pod security is restricted', async () => {
    await kubectl(`label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`);
    await kubectl('wait serviceaccount/default --for=create --timeout=30s');
    for (const file of ['examples/coreos/etcd-operator-deployment.yaml', 'deploy/coreos/operator-deployment.yaml']) {
      const { spec } = objectsIn(join(root, file))[0] as { spec: { template: { spec: object } } };
      const podSpec = { ...spec.template.spec, serviceAccountName: 'default' };
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'trial' }, spec: podSpec };
      await kubectl('create --dry-run=server -f -', { input: JSON.stringify(pod) });
    }
  });
});
