import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Parsed } from '../../src/apis/common/schema/parsed.ts';
import { improbableBackups } from '../../src/apis/improbable-v1alpha1/backup/backup.ts';
import { improbableRestores } from '../../src/apis/improbable-v1alpha1/backup/restore.ts';
import { improbableSchedules } from '../../src/apis/improbable-v1alpha1/backup/schedule.ts';
import { readEtcdCluster, readEtcdPeer } from '../../src/apis/improbable-v1alpha1/read.ts';
import { done, etcdCluster, improbableBench, type ManifestJson, refusal, root } from './crd-improbable-support.ts';

const { asStored, kubectl, namespace, request, create, patch, offer, offerByKubectl, withNamespace } =
  improbableBench();
const clusters = `/apis/etcd.improbable.io/v1alpha1/namespaces/${namespace}/etcdclusters`;

const made = (spec: ManifestJson, name: string) => done(create(etcdCluster(spec, { name })));
const stored = (name: string) => done(request('GET', `${clusters}/${name}`));
const changed = (name: string, spec: ManifestJson) => patch(`${clusters}/${name}`, { spec });
const template = (claim: object) => ({ storage: { volumeClaimTemplate: claim } });
const sized = (storage: string | number) => template({ resources: { requests: { storage } } });

withNamespace();

describe('kubectl with the improbable API', () => {
  it('get with the short name ietcd prints replicas, readiness, version and conditions', async () => {
    await made({}, 'columns');
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

  it('scale changes spec.replicas within its bounds, and /scale has the label selector for autoscalers', async () => {
    await made({}, 'scaled');
    await kubectl('scale etcdclusters.etcd.improbable.io scaled --replicas=5');
    expect(await stored('scaled')).toMatchObject({ spec: { replicas: 5 } });
    expect(await kubectl.refused('scale ietcd scaled --replicas=0')).toContain('must be from 1 to 9');
    const selector = 'etcd.improbable.io/cluster-name=scaled';
    const status = { replicas: 3, selector };
    await done(patch(`${clusters}/scaled/status`, { status }));
    expect(await done(request('GET', `${clusters}/scaled/scale`))).toMatchObject({ spec: { replicas: 5 }, status });
  });

  it('explain describes the fields', async () => {
    const explained = await kubectl('explain --api-version=etcd.improbable.io/v1alpha1 etcdcluster.spec.storage');
    expect(explained).toContain('volumeClaimPolicy is what happens to the volumes when the cluster is');
  });
});

describe('the storage of a cluster', () => {
  it('can grow; every other change of the volume claim template is refused', async () => {
    await made(template({ storageClassName: 'a', resources: { requests: { storage: '1Gi' } } }), 'grown');
    await done(changed('grown', sized('1025Mi')));
    await done(changed('grown', sized(2_147_483_648)));
    expect(await refusal(changed('grown', sized('2047Mi')))).toContain('a volume can grow but not shrink');
    const others = [
      { storageClassName: 'b' },
      { storageClassName: null },
      { accessModes: ['ReadWriteMany'] },
      { volumeName: 'v' },
      { selector: { matchLabels: { a: 'b' } } },
    ];
    for (const claim of others) {
      const message = await refusal(changed('grown', template(claim)));
      expect(message, JSON.stringify(claim)).toContain('spec.storage.volumeClaimTemplate: Invalid value');
      expect(message).toContain('Unsupported changes: of a volume only resources can be changed');
    }
    await done(changed('grown', { storage: { volumeClaimPolicy: 'Delete' } }));
  });

  it('that is unset equals the default of 1Gi', async () => {
    await made({}, 'default');
    await done(changed('default', sized('1Gi')));
    await done(changed('default', { storage: null }));
    expect(await refusal(changed('default', sized('1Mi')))).toContain('not shrink');
  });

  it('cannot change labels of its selector', async () => {
    const selecting = (value: string) => ({ selector: { matchLabels: { volume: value } } });
    await made(template({ ...selecting('fast'), resources: { requests: { storage: '1Gi' } } }), 'selecting');
    expect(await refusal(changed('selecting', template(selecting('slow'))))).toContain('Unsupported changes');
  });
});

describe('an update of an EtcdCluster', () => {
  it('can change version, pod template and settings', async () => {
    await made({ version: '3.5.35' }, 'changed');
    await done(changed('changed', { version: '3.6.16', podTemplate: { tolerations: [{ operator: 'Exists' }] } }));
    await done(changed('changed', { podTemplate: null, quotaBackendBytes: 1_048_576, paused: true }));
    expect(await refusal(changed('changed', { version: '2.3.8' }))).toContain('only Etcd version 3');
    expect(await stored('changed')).toMatchObject({ spec: { version: '3.6.16' } });
  });

  it('through /status is validated and never changes the spec', async () => {
    await made({}, 'forged');
    const forge = (change: object) => patch(`${clusters}/forged/status`, change);
    expect(await refusal(forge({ status: { clusterId: 'mine!' } }))).toContain('status.clusterId');
    expect(await refusal(forge({ status: { members: [{ name: 'a' }] } }))).toContain('id: Required value');
    await done(forge({ spec: { replicas: 9 }, status: { replicas: 7 } }));
    expect(await stored('forged')).toMatchObject({ spec: { replicas: 3 }, status: { replicas: 7 } });
  });
});

describe('an EtcdCluster of the improbable API', () => {
  it.each([
    ['spec.podTemplate.hostNetwork', { podTemplate: { hostNetwork: true } }],
    ['spec.podTemplate.containers', { podTemplate: { containers: [{ name: 'etcd', image: 'x' }] } }],
    ['spec.podTemplate.volumes', { podTemplate: { volumes: [{ name: 'x', hostPath: { path: '/' } }] } }],
    ['spec.storage.hostPath', { storage: { hostPath: '/' } }],
    ['spec.Namespace', { Namespace: 'foo' }],
  ])('with the unknown field %s is refused under strict validation and ignored by the reader', async (field, spec) => {
    expect(await offer(etcdCluster(spec))).toMatchObject({
      accepted: false,
      message: expect.stringContaining(`unknown field "${field}"`),
    });
    expect(readEtcdCluster(asStored(etcdCluster(spec))).ok).toBe(true);
  });

  it.each([
    ['no spec', '', 'spec: Required value'],
    ['a spec of text', 'spec: three', 'spec: Invalid value'],
    ['a list of storage', 'spec: { replicas: 3, storage: [] }', 'spec.storage: Invalid value'],
    ['a spec of one MiB', `spec: { replicas: 3, version: "${'3'.repeat(2 ** 20)}" }`, 'spec.version: Too long'],
  ])('with %s is refused', async (_, text, message) => {
    const head = 'apiVersion: etcd.improbable.io/v1alpha1\nkind: EtcdCluster\nmetadata: { name: example }\n';
    const answer = await offerByKubectl(`${head}${text}`);
    expect(answer).toMatchObject({ accepted: false, message: expect.stringContaining(message) });
  });
});

const readers: Readonly<Record<string, (raw: unknown) => Parsed<unknown>>> = {
  EtcdCluster: readEtcdCluster,
  EtcdPeer: readEtcdPeer,
  EtcdBackup: improbableBackups.read,
  EtcdBackupSchedule: improbableSchedules.read,
  EtcdRestore: improbableRestores.read,
};

describe('the manifests of the improbable API', () => {
  const examples = readdirSync(join(root, 'examples/improbable')).filter((file) => file.endsWith('.yaml'));

  it.each(examples)('%s applies and is accepted by the reader', async (file) => {
    for (const document of parseAllDocuments(readFileSync(join(root, 'examples/improbable', file), 'utf8'))) {
      const raw = document.toJS() as ManifestJson;
      const kind = String(raw['kind']);
      const answer = await offer(raw);
      expect(answer).toMatchObject({ accepted: true });
      const read = kind.startsWith('Etcd') ? readers[kind]?.(answer.stored) : undefined;
      expect(read?.ok === false ? read.problems : kind).toBe(kind);
    }
  });

  it.each([
    ['deploy/improbable', 'etcd-operator', ''],
    ['deploy/eco', 'eco-system', 'eco-'],
  ])('of %s apply as one kustomization', async (folder, home, prefix) => {
    const all = await kubectl(`kustomize ${join(root, folder)}`);
    expect(all).toContain(`kind: Namespace\nmetadata:\n  labels:`);
    // A dry run creates no namespace, so objects of that namespace are applied in the test's namespace.
    const input = all.replaceAll(`namespace: ${home}`, `namespace: ${namespace}`);
    const applied = await kubectl('apply --dry-run=server -f -', { input });
    for (const plural of ['etcdclusters', 'etcdpeers', 'etcdrestores'])
      expect(applied).toContain(`${plural}.etcd.improbable.io`);
    for (const name of ['etcd-improbable-edit', 'etcd-operator']) expect(applied).toContain(`/${prefix}${name} `);
    expect(applied).toContain(`namespace/${home} `);
  });
});
