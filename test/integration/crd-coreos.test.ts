import { afterAll, describe, expect, it } from 'vitest';
import { etcdClusterCrd } from '../../src/dialects/coreos-v1beta2/crd.ts';
import { readEtcdCluster } from '../../src/dialects/coreos-v1beta2/read.ts';
import { until } from '../support/until.ts';
import { coreosBench, done, etcdCluster, type Json, refusal } from './crd-coreos-support.ts';

const { kubectl, namespace, say, create, patch, withNamespace } = coreosBench();
const clusters = `/apis/etcd.database.coreos.com/v1beta2/namespaces/${namespace}/etcdclusters`;

const made = (spec: Json, name: string) => done(create(etcdCluster(spec, { name })));
const stored = (name: string) => done(say('GET', `${clusters}/${name}`));
const changed = (name: string, spec: Json) => patch(`${clusters}/${name}`, { spec });

withNamespace();

describe('kubectl', () => {
  it('finds the kind by its short names, and answers "is it well?"', async () => {
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

  it('explains the fields', async () => {
    expect(await kubectl('explain etcdcluster.spec.size')).toContain('How many members the cluster has');
    expect(await kubectl('explain etcdcluster.spec.pod.persistentVolumeClaimSpec')).toContain(
      'A volume claim for each',
    );
  });

  it('scales, but not out of bounds', async () => {
    await made({}, 'scaled');
    await kubectl('scale etcdcluster scaled --replicas=5');
    expect(await stored('scaled')).toMatchObject({ spec: { size: 5 } });
    expect(await kubectl.refused('scale etcdcluster scaled --replicas=0')).toContain('must be from 1 to 9');
    const scale = { spec: { replicas: 10 } };
    expect(await refusal(patch(`${clusters}/scaled/scale`, scale))).toContain('must be from 1 to 9');
  });

  it('shows what is left out as it is filled in, as in the book', async () => {
    await made({}, 'filled-in');
    const described = await kubectl('describe etcdcluster filled-in');
    expect(described.slice(described.indexOf('Spec:'))).toMatch(
      /^Spec:\n\s+Repository:\s+quay.io\/coreos\/etcd\n\s+Size:\s+3\n\s+Version:\s+3.2.13\nEvents:/,
    );
  });

  it('patches the version as the book does, without quotes', async () => {
    await made({}, 'patched');
    await kubectl(
      `patch etcdcluster patched --type=json -p '[{"op": "replace", "path": "/spec/version", "value":3.3.12}]'`,
    );
    expect(await stored('patched')).toMatchObject({ spec: { version: '3.3.12' } });
  });
});

describe('a bad change', () => {
  it('is refused and changes nothing; the right one is then accepted', async () => {
    await made({ version: '3.5.21' }, 'changed');
    expect(await refusal(changed('changed', { version: 'latest' }))).toContain('spec.version');
    expect(await stored('changed')).toMatchObject({ spec: { version: '3.5.21' } });
    await done(changed('changed', { version: '3.5.22' }));
    expect(await stored('changed')).toMatchObject({ spec: { version: '3.5.22' } });
  });

  it('of the status is limited to what makes sense, and never reaches the spec', async () => {
    await made({}, 'forged');
    const forge = (change: Json) => patch(`${clusters}/forged/status`, change);
    const names = Array.from({ length: 65 }, (_, i) => `m${i}`);
    expect(await refusal(forge({ status: { members: { ready: names } } }))).toContain('status.members.ready: Too many');
    expect(await refusal(forge({ status: { clusterId: 'mine!' } }))).toContain('status.clusterId');
    expect(await refusal(forge({ status: { phase: 'Dancing' } }))).toContain('status.phase: Unsupported value');
    await done(forge({ spec: { size: 9 }, status: { size: 7 } }));
    expect(await stored('forged')).toMatchObject({ spec: { size: 3 }, status: { size: 7 } });
  });
});

describe('the same name', () => {
  it('can be used in two namespaces', async () => {
    await made({}, 'twin');
    const elsewhere = clusters.replace(namespace, 'default');
    const twin = etcdCluster({}, { name: 'twin' });
    await done(say('POST', `${elsewhere}?dryRun=All`, { body: twin }));
  });
});

describe('an object that was stored before there was a schema', () => {
  const group = `${namespace}.etcd-operator.test`;
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
  const collection = `/apis/${group}/v1beta2/namespaces/${namespace}/oldetcdclusters`;
  const old = `${collection}/has.dots`;
  const apply = (definition: object) => kubectl('apply -f -', { input: JSON.stringify(definition) });
  afterAll(() => kubectl(`delete crd/${kind} --ignore-not-found`));

  it('can be read about, written about, set right and deleted under ours', async () => {
    await apply(theirs);
    const body = { ...wrong, apiVersion: `${group}/v1beta2`, kind: names.kind };
    await until('the old kind is served', () => done(say('POST', collection, { body })));
    await apply(ours);
    await until('the new schema is in force', async () => {
      const answer = await refusal(patch(`${old}?dryRun=All`, { spec: { size: -1 } }));
      return answer.includes('spec.size') ? answer : undefined;
    });

    const read = readEtcdCluster(await done(say('GET', old)));
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
    await done(say('DELETE', old));
    await done(patch(old, { metadata: { finalizers: null } }));
    expect(await refusal(say('GET', old))).toContain('not found');
  });
});
