import { describe, expect, it } from 'vitest';
import { coreosBackups } from '../../dialects/coreos-v1beta2/backup.ts';
import { improbableBackups } from '../../dialects/improbable-v1alpha1/backup.ts';
import { byAway, byEmployer } from '../agents/away.ts';
import type { OperatorsStore } from '../agents/operators-store.ts';
import { seenFromAway } from './away.ts';
import { savePod } from './save-pod.ts';

const home = { group: improbableBackups.group, namespace: 'etcd-operator' };
const operators: OperatorsStore = {
  ...{ namespace: home.namespace, secret: 'store', serviceAccountName: 'saver', urls: [] },
};

function podOf(spec: object, metadata: object = {}) {
  const read = improbableBackups.read({
    metadata: { name: 'b', namespace: 'tenant', uid: 'u-1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: { source: { clusterURL: 'http://db:2379' }, ...spec },
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const observed = { world: {} as never, access: { endpoints: ['http://db:2379'] } };
  const tools = { dialect: improbableBackups, clusters: { dialect: { kind: 'EtcdCluster' } } as never, operators };
  return savePod({ read: read.value, slot: 5, observed, image: { name: 'ours' } }, tools);
}
const at = (objectURLTemplate: string, more: object = {}) => ({ destination: { objectURLTemplate, ...more } });
const text = (pod: object): string => JSON.stringify(pod);

describe('the pod of a backup without credentials of its own', () => {
  const pod = podOf(at('s3://bucket/{{ .UID }}.db'));

  it("works in the operator's namespace, with what that was given", () => {
    expect(pod.metadata.namespace).toBe('etcd-operator');
    expect(pod.spec).toMatchObject({ serviceAccountName: 'saver', automountServiceAccountToken: false });
    expect(text(pod.spec)).toContain('"secretName":"store"');
  });

  it('is owned by nobody, because owners are of the same namespace, and says whose it is', () => {
    expect(pod.metadata.ownerReferences).toEqual([]);
    expect(byEmployer(home)(pod)).toEqual(['u-1']);
    expect(byAway(home)(pod)).toEqual(['tenant/b']);
  });

  it('is not believed anywhere else', () => {
    const forged = { ...pod, metadata: { ...pod.metadata, namespace: 'evil' } };
    expect([byEmployer(home)(forged), byAway(home)(forged)]).toEqual([[], []]);
  });
});

describe('the pod of a backup with credentials of its own', () => {
  it("asks for Azure's identity where it has an account and no Secret", () => {
    const pod = podOf({ ...at('azblob://c/k?storage_account=acc'), serviceAccountName: 'me' });
    expect(pod.metadata.labels).toMatchObject({ 'azure.workload.identity/use': 'true' });
  });

  it('works beside its resource, and never has those of the operator', () => {
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

describe('the pod of a backup that a schedule has made', () => {
  const owner = { apiVersion: `${home.group}/v1alpha1`, kind: 'EtcdBackupSchedule', name: 's', uid: 'su' };

  it('keeps and prunes for the schedule, all that its template has named', () => {
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

  it('gives pruning a share of its own time, and the API server no time that it does not take', () => {
    const deadline = (timeoutSeconds: number) =>
      podOf({ ...at('file://claim/k'), timeoutSeconds }).spec['activeDeadlineSeconds'];
    expect([deadline(1), deadline(600), deadline(2 ** 31 - 1)]).toEqual([121, 960, 2 ** 31 - 1]);
  });
});

describe('the pod of a backup of the other API', () => {
  it('prunes below its own path', () => {
    const read = coreosBackups.read({
      metadata: { name: 'b', namespace: 'n', uid: 'u' },
      spec: {
        ...{ etcdEndpoints: ['db:2379'], storageType: 'PVC', pvc: { claimName: 'c', path: 'p' } },
        backupPolicy: { maxBackups: 2, backupIntervalInSecond: 60 },
      },
    });
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const observed = { world: {} as never, access: { endpoints: ['http://db:2379'] } };
    const tools = { dialect: coreosBackups, clusters: { dialect: { kind: 'EtcdCluster' } } as never, operators };
    const pod = text(savePod({ read: read.value, slot: 5, observed, image: { name: 'ours' } }, tools));
    expect(pod).toContain('"--owner","u","--owner-namespace","n","--keep","2"');
    expect(pod).not.toContain('--below');
  });
});

describe("an etcd as it is seen from the operator's namespace", () => {
  it.each([
    ['http://db:2379', ['http://db.tenant.svc:2379']],
    ['https://db-0.db:2379/', ['https://db-0.db.tenant.svc:2379/', 'https://db-0.db:2379/']],
    ['http://db.tenant.svc:2379', ['http://db.tenant.svc:2379']],
    ['http://10.1.2.3:2379', ['http://10.1.2.3:2379']],
    ['http://[fd00::1]:2379', ['http://[fd00::1]:2379']],
    ['https://[::ffff:10.1.2.3]:2379/', ['https://[::ffff:10.1.2.3]:2379/']],
  ])('%s is at %j', (url, endpoints) => {
    expect(seenFromAway({ endpoints: [url] }, 'tenant').endpoints).toEqual(endpoints);
  });
});
