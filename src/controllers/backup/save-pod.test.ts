import { describe, expect, it } from 'vitest';
import { coreosBackups } from '../../apis/coreos-v1beta2/backup.ts';
import { improbableBackups } from '../../apis/improbable-v1alpha1/backup/backup.ts';
import { byResourceKey, byResourceUid } from '../shared/agent-namespace.ts';
import type { OperatorStore } from '../shared/operator-store.ts';
import { withQualifiedHosts } from './agent-placement.ts';
import { savePod } from './save-pod.ts';

const home = { group: improbableBackups.group, namespace: 'etcd-operator' };
const operators: OperatorStore = {
  namespace: home.namespace,
  secret: 'store',
  serviceAccountName: 'saver',
  urls: [],
};

function podOf(spec: object, metadata: object = {}) {
  const read = improbableBackups.read({
    metadata: { name: 'b', namespace: 'tenant', uid: 'u-1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: { source: { clusterURL: 'http://db:2379' }, ...spec },
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const observed = { world: {} as never, access: { endpoints: ['http://db:2379'] } };
  const context = { dialect: improbableBackups, clusters: { dialect: { kind: 'EtcdCluster' } } as never, operators };
  return savePod({ read: read.value, slot: 5, observed, image: { name: 'ours' } }, context);
}
const at = (objectURLTemplate: string, more: object = {}) => ({ destination: { objectURLTemplate, ...more } });
const text = (pod: object): string => JSON.stringify(pod);

describe('the agent Pod of a backup without credentials of its own', () => {
  const pod = podOf(at('s3://bucket/{{ .UID }}.db'));

  it("runs in the operator's namespace, with the operator's Secret and ServiceAccount", () => {
    expect(pod.metadata.namespace).toBe('etcd-operator');
    expect(pod.spec).toMatchObject({ serviceAccountName: 'saver', automountServiceAccountToken: false });
    expect(text(pod.spec)).toContain('"secretName":"store"');
  });

  it('has no ownerReference, which cannot cross namespaces, but a label and an annotation of its EtcdBackup', () => {
    expect(pod.metadata.ownerReferences).toEqual([]);
    expect(byResourceUid(home)(pod)).toEqual(['u-1']);
    expect(byResourceKey(home)(pod)).toEqual(['tenant/b']);
  });

  it('is not assigned to an EtcdBackup by label if it is in any other namespace', () => {
    const forged = { ...pod, metadata: { ...pod.metadata, namespace: 'evil' } };
    expect([byResourceUid(home)(forged), byResourceKey(home)(forged)]).toEqual([[], []]);
  });
});

describe('the agent Pod of a backup with credentials of its own', () => {
  it('has the label for the workload identity of Azure if it has a ServiceAccount and no Secret', () => {
    const pod = podOf({ ...at('azblob://c/k?storage_account=acc'), serviceAccountName: 'me' });
    expect(pod.metadata.labels).toMatchObject({ 'azure.workload.identity/use': 'true' });
  });

  it('runs in the namespace of its EtcdBackup, without the credentials of the operator', () => {
    for (const pod of [
      podOf(at('s3://bucket/k', { credentialsSecret: 'mine' })),
      podOf({ ...at('s3://bucket/k'), serviceAccountName: 'me' }),
      podOf(at('file://claim/k')),
    ]) {
      expect(pod.metadata).toMatchObject({ namespace: 'tenant', ownerReferences: [{ uid: 'u-1' }] });
      expect(text(pod)).not.toMatch(/"store"|"saver"/);
    }
  });
});

describe('the agent Pod of a scheduled backup', () => {
  const owner = { apiVersion: `${home.group}/v1alpha1`, kind: 'EtcdBackupSchedule', name: 's', uid: 'su' };

  it('stores and prunes for the schedule, below the prefix of its URL template', () => {
    const url = 'file://claim/{{ .Namespace }}/{{ .UID }}.db';
    const pod = podOf(
      { ...at(url), retention: { maxBackups: 3, maxAgeSeconds: 60 } },
      { ownerReferences: [{ ...owner, controller: true }] },
    );
    const { initContainers, containers } = pod.spec as Record<string, readonly { command: readonly string[] }[]>;
    expect(initContainers?.[0]?.command.join(' ')).toContain('"kind":"EtcdBackupSchedule"');
    expect(containers?.[0]?.command.join(' ')).toContain(
      'prune --url file://claim/tenant/u-1.db --volume /var/lib/backups --owner su --owner-namespace tenant ' +
        '--below tenant/ --keep 3 --keep-seconds 60 --timeout 300 ',
    );
  });

  it('adds time for pruning to its deadline, up to the maximum of the API server', () => {
    const deadline = (timeoutSeconds: number) =>
      podOf({ ...at('file://claim/k'), timeoutSeconds }).spec['activeDeadlineSeconds'];
    expect([deadline(1), deadline(600), deadline(2 ** 31 - 1)]).toEqual([121, 960, 2 ** 31 - 1]);
  });
});

describe('the agent Pod of a backup of the coreos API', () => {
  it('prunes objects of its own path', () => {
    const read = coreosBackups.read({
      metadata: { name: 'b', namespace: 'n', uid: 'u' },
      spec: {
        etcdEndpoints: ['db:2379'],
        storageType: 'PVC',
        pvc: { claimName: 'c', path: 'p' },
        backupPolicy: { maxBackups: 2, backupIntervalInSecond: 60 },
      },
    });
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const observed = { world: {} as never, access: { endpoints: ['http://db:2379'] } };
    const context = { dialect: coreosBackups, clusters: { dialect: { kind: 'EtcdCluster' } } as never, operators };
    const pod = text(savePod({ read: read.value, slot: 5, observed, image: { name: 'ours' } }, context));
    expect(pod).toContain('"--owner","u","--owner-namespace","n","--keep","2"');
    expect(pod).not.toContain('--below');
  });
});

describe("an etcd endpoint for an agent in the operator's namespace", () => {
  it.each([
    ['http://db:2379', ['http://db.tenant.svc:2379']],
    ['https://db-0.db:2379/', ['https://db-0.db.tenant.svc:2379/', 'https://db-0.db:2379/']],
    ['http://db.tenant.svc:2379', ['http://db.tenant.svc:2379']],
    ['http://10.1.2.3:2379', ['http://10.1.2.3:2379']],
    ['http://[fd00::1]:2379', ['http://[fd00::1]:2379']],
    ['https://[::ffff:10.1.2.3]:2379/', ['https://[::ffff:10.1.2.3]:2379/']],
  ])('%s becomes %j', (url, endpoints) => {
    expect(withQualifiedHosts({ endpoints: [url] }, 'tenant').endpoints).toEqual(endpoints);
  });
});
