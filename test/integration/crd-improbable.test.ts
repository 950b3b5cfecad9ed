import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { improbableBackups } from '../../src/dialects/improbable-v1alpha1/backup.ts';
import { readEtcdCluster, readEtcdPeer } from '../../src/dialects/improbable-v1alpha1/read.ts';
import { improbableRestores } from '../../src/dialects/improbable-v1alpha1/restore.ts';
import { improbableSchedules } from '../../src/dialects/improbable-v1alpha1/schedule.ts';
import type { Parsed } from '../../src/dialects/parsed.ts';
import { asStored, etcdCluster, kubectl, namespace, offer, root, withDefinition } from './crd-improbable-support.ts';

const create = (spec: object, name: string) =>
  kubectl('create -f -', { input: JSON.stringify(etcdCluster({ ...spec }, { name })) });
const patch = (name: string, spec: object): string =>
  `patch ietcd ${name} --type=merge -p '${JSON.stringify({ spec })}'`;
const template = (claim: object) => ({ storage: { volumeClaimTemplate: claim } });
const sized = (storage: string | number) => template({ resources: { requests: { storage } } });

withDefinition();

describe('kubectl', () => {
  it('finds clusters by a short name of their own, and answers "is it well?"', async () => {
    await create({}, 'columns');
    const status = {
      readyReplicas: 3,
      serverVersion: '3.7.3',
      conditions: [
        { type: 'Available', status: 'True' },
        { type: 'Progressing', status: 'False', reason: 'AsDesired' },
      ],
    };
    await kubectl(`patch ietcd columns --subresource=status --type=merge -p '${JSON.stringify({ status })}'`);
    const [head = '', row = ''] = (await kubectl('get ietcd columns')).split('\n');
    expect(head.split(/\s+/)).toEqual(['NAME', 'REPLICAS', 'READY', 'VERSION', 'AVAILABLE', 'DOING', 'AGE']);
    expect(row.split(/\s+/).slice(0, -1)).toEqual(['columns', '3', '3', '3.7.3', 'True', 'AsDesired']);
    expect(await kubectl('get etcdpeers.etcd.improbable.io')).toBe('');
  });

  it('scales by name and within bounds, and tells autoscalers whose pods these are', async () => {
    await create({}, 'scaled');
    await kubectl('scale etcdclusters.etcd.improbable.io scaled --replicas=5');
    expect(await kubectl('get ietcd scaled -o jsonpath={.spec.replicas}')).toBe('5');
    expect(await kubectl.refused('scale ietcd scaled --replicas=0')).toContain('must be from 1 to 9');
    const selector = 'etcd.improbable.io/cluster-name=scaled';
    const status = { replicas: 3, selector };
    await kubectl(`patch ietcd scaled --subresource=status --type=merge -p '${JSON.stringify({ status })}'`);
    const path = `/apis/etcd.improbable.io/v1alpha1/namespaces/${namespace}/etcdclusters/scaled/scale`;
    expect(JSON.parse(await kubectl(`get --raw ${path}`))).toMatchObject({
      spec: { replicas: 5 },
      status: { replicas: 3, selector },
    });
  });

  it('explains the fields', async () => {
    const explained = await kubectl('explain --api-version=etcd.improbable.io/v1alpha1 etcdcluster.spec.storage');
    expect(explained).toContain('Whether volumes stay when the cluster is deleted');
  });
});

describe('the storage of a cluster', () => {
  it('can grow, and change in nothing else', async () => {
    await create(template({ storageClassName: 'a', resources: { requests: { storage: '1Gi' } } }), 'grown');
    await kubectl(patch('grown', sized('1025Mi')));
    await kubectl(patch('grown', sized(2_147_483_648)));
    expect(await kubectl.refused(patch('grown', sized('2047Mi')))).toContain('a volume can grow but not shrink');
    const others = [
      { storageClassName: 'b' },
      { storageClassName: null },
      { accessModes: ['ReadWriteMany'] },
      { volumeName: 'v' },
      { selector: { matchLabels: { a: 'b' } } },
    ];
    for (const claim of others) {
      const says = await kubectl.refused(patch('grown', template(claim)));
      expect(says, JSON.stringify(claim)).toContain('spec.storage.volumeClaimTemplate: Invalid value');
      expect(says).toContain('Unsupported changes: of a volume only resources can be changed');
    }
    await kubectl(patch('grown', { storage: { volumeClaimPolicy: 'Delete' } }));
  });

  it('that was left out is the same as what was filled in', async () => {
    await create({}, 'default');
    await kubectl(patch('default', sized('1Gi')));
    await kubectl(patch('default', { storage: null }));
    expect(await kubectl.refused(patch('default', sized('1Mi')))).toContain('not shrink');
  });

  it('of a changed selector is compared in all its parts', async () => {
    const selecting = (value: string) => ({ selector: { matchLabels: { disk: value } } });
    await create(template({ ...selecting('fast'), resources: { requests: { storage: '1Gi' } } }), 'selecting');
    expect(await kubectl.refused(patch('selecting', template(selecting('slow'))))).toContain('Unsupported changes');
  });
});

describe('a change of anything else', () => {
  it('is accepted: version, pods and settings reach running members', async () => {
    await create({ version: '3.5.35' }, 'changed');
    await kubectl(patch('changed', { version: '3.6.16', podTemplate: { tolerations: [{ operator: 'Exists' }] } }));
    await kubectl(patch('changed', { podTemplate: null, quotaBackendBytes: 1_048_576, paused: true }));
    expect(await kubectl.refused(patch('changed', { version: '2.3.8' }))).toContain('only Etcd version 3');
    expect(await kubectl('get ietcd changed -o jsonpath={.spec.version}')).toBe('3.6.16');
  });

  it('of the status is limited to what makes sense, and never reaches the spec', async () => {
    await create({}, 'forged');
    const forge = (change: object): string =>
      `patch ietcd forged --subresource=status --type=merge -p '${JSON.stringify(change)}'`;
    expect(await kubectl.refused(forge({ status: { clusterId: 'mine!' } }))).toContain('status.clusterId');
    expect(await kubectl.refused(forge({ status: { members: [{ name: 'a' }] } }))).toContain('id: Required value');
    await kubectl(forge({ spec: { replicas: 9 }, status: { replicas: 7 } }));
    expect(await kubectl('get ietcd forged -o jsonpath={.spec.replicas}/{.status.replicas}')).toBe('3/7');
  });
});

describe('structure', () => {
  it.each([
    ['spec.podTemplate.hostNetwork', { podTemplate: { hostNetwork: true } }],
    ['spec.podTemplate.containers', { podTemplate: { containers: [{ name: 'etcd', image: 'x' }] } }],
    ['spec.podTemplate.volumes', { podTemplate: { volumes: [{ name: 'x', hostPath: { path: '/' } }] } }],
    ['spec.storage.hostPath', { storage: { hostPath: '/' } }],
    ['spec.Namespace', { Namespace: 'foo' }],
  ])('with the unknown field %s is refused by kubectl, and ignored by the reader', async (field, spec) => {
    expect((await offer(etcdCluster(spec))).says).toContain(`unknown field "${field}"`);
    expect(readEtcdCluster(asStored(etcdCluster(spec))).ok).toBe(true);
  });

  it.each([
    ['no spec', '', 'spec: Required value'],
    ['a spec of text', 'spec: three', 'spec: Invalid value'],
    ['a list of storage', 'spec: { replicas: 3, storage: [] }', 'spec.storage: Invalid value'],
    ['a spec of one MiB', `spec: { replicas: 3, version: "${'3'.repeat(2 ** 20)}" }`, 'spec.version: Too long'],
  ])('that is %s is refused', async (_, text, says) => {
    const head = 'apiVersion: etcd.improbable.io/v1alpha1\nkind: EtcdCluster\nmetadata: { name: example }\n';
    expect(await offer(`${head}${text}`)).toMatchObject({ accepted: false, says: expect.stringContaining(says) });
  });
});

const readers: Readonly<Record<string, (raw: unknown) => Parsed<unknown>>> = {
  EtcdCluster: readEtcdCluster,
  EtcdPeer: readEtcdPeer,
  EtcdBackup: improbableBackups.read,
  EtcdBackupSchedule: improbableSchedules.read,
  EtcdRestore: improbableRestores.read,
};

describe('the manifests', () => {
  const examples = readdirSync(join(root, 'examples/improbable')).filter((file) => file.endsWith('.yaml'));

  it.each(examples)('%s applies, and can be read', async (file) => {
    for (const object of parseAllDocuments(readFileSync(join(root, 'examples/improbable', file), 'utf8'))) {
      const { kind } = object.toJS() as { kind: string };
      const input = JSON.stringify(object);
      const stored = JSON.parse(await kubectl('create --dry-run=server -o json -f -', { input })) as unknown;
      const read = kind.startsWith('Etcd') ? readers[kind]?.(stored) : undefined;
      expect(read?.ok === false ? read.problems : kind).toBe(kind);
    }
  });

  it.each([
    ['deploy/improbable', 'etcd-operator', ''],
    ['deploy/eco', 'eco-system', 'eco-'],
  ])('of %s apply as one', async (folder, home, prefix) => {
    const all = await kubectl(`kustomize ${join(root, folder)}`);
    expect(all).toContain(`kind: Namespace\nmetadata:\n  labels:`);
    // A dry run keeps no namespace for what lies in it, so that is tried in another.
    const input = all.replaceAll(`namespace: ${home}`, `namespace: ${namespace}`);
    const applied = await kubectl('apply --dry-run=server -f -', { input });
    for (const plural of ['etcdclusters', 'etcdpeers', 'etcdrestores'])
      expect(applied).toContain(`${plural}.etcd.improbable.io`);
    for (const name of ['etcd-improbable-edit', 'etcd-operator']) expect(applied).toContain(`/${prefix}${name} `);
    expect(applied).toContain(`namespace/${home} `);
  });
});
