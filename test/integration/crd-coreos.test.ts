import { afterAll, describe, expect, it } from 'vitest';
import { etcdClusterCrd } from '../../src/apis/coreos-v1beta2/crd.ts';
import { readEtcdCluster } from '../../src/apis/coreos-v1beta2/read.ts';
import { until } from '../support/until.ts';
import { coreosBench, done, etcdCluster, type ManifestJson, refusal } from './crd-coreos-support.ts';

const { kubectl, namespace, request, create, patch, withNamespace } = coreosBench();
const clusters = `/apis/etcd.database.coreos.com/v1beta2/namespaces/${namespace}/etcdclusters`;

const made = (spec: ManifestJson, name: string) => done(create(etcdCluster(spec, { name })));
const stored = (name: string) => done(request('GET', `${clusters}/${name}`));
const changed = (name: string, spec: ManifestJson) => patch(`${clusters}/${name}`, { spec });

withNamespace();

describe('kubectl with the coreos API', () => {
  it('get with a short name prints size, readiness, version, phase and conditions', async () => {
    await kubectl('apply -f -', { input: JSON.stringify(etcdCluster({ version: '3.7.3' }, { name: 'columns' })) });
    const status = {
      phase: 'Running',
      readyMembers: 3,
      currentVersion: '3.7.3',
      conditions: [
        { type: 'Available', status: 'True', reason: 'Cluster available' },
        { type: 'Progressing', status: 'False', reason: 'AsDesired' },
      ],
    };
    await kubectl(`patch etcdcluster columns --subresource=status --type=merge -p '${JSON.stringify({ status })}'`);
    const [head = '', row = ''] = (await kubectl('get etcd columns')).split('\n');
    expect(head.split(/\s+/)).toEqual(['NAME', 'SIZE', 'READY', 'VERSION', 'PHASE', 'AVAILABLE', 'DOING', 'AGE']);
    expect(row.split(/\s+/).slice(0, -1)).toEqual(['columns', '3', '3', '3.7.3', 'Running', 'True', 'AsDesired']);
    expect(await kubectl('get etcdclus columns -o wide')).toContain('WANTED');
  });

  it('explain describes the fields', async () => {
    expect(await kubectl('explain etcdcluster.spec.size')).toContain('size is the number of members');
    expect(await kubectl('explain etcdcluster.spec.pod.persistentVolumeClaimSpec')).toContain(
      'is the PersistentVolumeClaim of each member',
    );
  });

  it('scale changes spec.size within its bounds', async () => {
    await made({}, 'scaled');
    await kubectl('scale etcdcluster scaled --replicas=5');
    expect(await stored('scaled')).toMatchObject({ spec: { size: 5 } });
    expect(await kubectl.refused('scale etcdcluster scaled --replicas=0')).toContain('must be from 1 to 9');
    const scale = { spec: { replicas: 10 } };
    expect(await refusal(patch(`${clusters}/scaled/scale`, scale))).toContain('must be from 1 to 9');
  });

  it('describe shows the defaults of repository, size and version, as in the book', async () => {
    await made({}, 'filled-in');
    const described = await kubectl('describe etcdcluster filled-in');
    expect(described.slice(described.indexOf('Spec:'))).toMatch(
      /^Spec:\n\s+Repository:\s+quay.io\/coreos\/etcd\n\s+Size:\s+3\n\s+Version:\s+3.2.13\nEvents:/,
    );
  });

  it('patch accepts a version without quotes, as in the book', async () => {
    await made({}, 'patched');
    await kubectl(
      `patch etcdcluster patched --type=json -p '[{"op": "replace", "path": "/spec/version", "value":3.3.12}]'`,
    );
    expect(await stored('patched')).toMatchObject({ spec: { version: '3.3.12' } });
  });
});

describe('an update of an EtcdCluster', () => {
  it('with an invalid version is refused and changes nothing; a valid one is accepted', async () => {
    await made({ version: '3.5.21' }, 'changed');
    expect(await refusal(changed('changed', { version: 'latest' }))).toContain('spec.version');
    expect(await stored('changed')).toMatchObject({ spec: { version: '3.5.21' } });
    await done(changed('changed', { version: '3.5.22' }));
    expect(await stored('changed')).toMatchObject({ spec: { version: '3.5.22' } });
  });

  it('through /status is validated and never changes the spec', async () => {
    await made({}, 'forged');
    const forge = (change: ManifestJson) => patch(`${clusters}/forged/status`, change);
    const names = Array.from({ length: 65 }, (_, i) => `m${i}`);
    expect(await refusal(forge({ status: { members: { ready: names } } }))).toContain('status.members.ready: Too many');
    expect(await refusal(forge({ status: { clusterId: 'mine!' } }))).toContain('status.clusterId');
    expect(await refusal(forge({ status: { phase: 'Dancing' } }))).toContain('status.phase: Unsupported value');
    await done(forge({ spec: { size: 9 }, status: { size: 7 } }));
    expect(await stored('forged')).toMatchObject({ spec: { size: 3 }, status: { size: 7 } });
  });
});

describe('an EtcdCluster name', () => {
  it('can be used in two namespaces', async () => {
    await made({}, 'twin');
    const elsewhere = clusters.replace(namespace, 'default');
    const twin = etcdCluster({}, { name: 'twin' });
    await done(request('POST', `${elsewhere}?dryRun=All`, { body: twin }));
  });
});

describe('an invalid object stored under a CRD without schema', () => {
  const group = `${namespace}.etcd-operator.test`;
  const kind = `oldetcdclusters.${group}`;
  const shipped = JSON.stringify(etcdClusterCrd()).replaceAll('etcd.database.coreos.com', group);
  const { spec, ...head } = JSON.parse(shipped) as ReturnType<typeof etcdClusterCrd>;
  // Another kind and plural, so that kubectl does not confuse this CRD with the shipped one.
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
  const collection = `/apis/${group}/v1beta2/namespaces/${namespace}/oldetcdclusters`;
  const old = `${collection}/has.dots`;
  const apply = (definition: object) => kubectl('apply -f -', { input: JSON.stringify(definition) });
  afterAll(() => kubectl(`delete crd/${kind} --ignore-not-found`));

  it('is reported by the reader and can be patched, corrected and deleted under the shipped CRD', async () => {
    await apply(theirs);
    const body = { ...wrong, apiVersion: `${group}/v1beta2`, kind: names.kind };
    await until('the old kind is served', () => done(request('POST', collection, { body })));
    await apply(ours);
    await until('the new schema is enforced', async () => {
      const answer = await refusal(patch(`${old}?dryRun=All`, { spec: { size: -1 } }));
      return answer.includes('spec.size') ? answer : undefined;
    });

    const read = readEtcdCluster(await done(request('GET', old)));
    expect(read.ok ? [] : read.problems.map(({ path }) => path)).toEqual([
      'metadata.name',
      'spec.size',
      'spec.version',
      'spec.pod.labels',
    ]);

    await done(patch(`${old}/status`, { status: { phase: 'Failed', reason: 'x' } }));
    await done(patch(old, { metadata: { annotations: { note: 'kept' } } }));
    await done(patch(old, { spec: { size: 3 } }));
    expect(await refusal(patch(old, { spec: { size: 0 } }))).toContain('spec.size');
    await done(patch(old, { metadata: { finalizers: ['example.com/wait'] } }));
    await done(request('DELETE', old));
    await done(patch(old, { metadata: { finalizers: null } }));
    expect(await refusal(request('GET', old))).toContain('not found');
  });
});
