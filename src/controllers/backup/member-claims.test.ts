import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../test/support/virtual-clock.ts';
import { coreosBackups } from '../../apis/coreos-v1beta2/backup.ts';
import { coreos } from '../../apis/coreos-v1beta2/dialect.ts';
import { improbableBackups } from '../../apis/improbable-v1alpha1/backup/backup.ts';
import { improbable } from '../../apis/improbable-v1alpha1/dialect.ts';
import { memberClaim } from '../../core/manifests/pvc.ts';
import { Failure } from '../../std/failure.ts';
import { TerminatingPods } from '../shared/terminating-pods.ts';
import type { BackupContext } from './context.ts';
import { observeBackup } from './observe.ts';

const metadata = { name: 'db', namespace: 'tenant', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' };
const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const clusters = {
  coreos: coreos.read({ metadata, spec: { size: 3, pod: { persistentVolumeClaimSpec: storage } } }),
  improbable: improbable.read({ metadata, spec: { replicas: 3, storage: { volumeClaimTemplate: storage } } }),
};
const backups = {
  coreos: coreosBackups.read({
    metadata,
    spec: { etcdEndpoints: ['db:2379'], storageType: 'PVC', pvc: { claimName: 'db-0', path: 'data/member/snap/db' } },
  }),
  improbable: improbableBackups.read({
    metadata,
    spec: {
      source: { clusterURL: 'http://db:2379' },
      destination: { objectURLTemplate: 'file://db-0/data/member/snap/db' },
    },
  }),
};

type Api = keyof typeof backups;
const apis = Object.keys(backups) as Api[];

function claimOf(api: Api) {
  const read = clusters[api];
  const claim = read.ok ? memberClaim(read.value.blueprint, 'db-0' as never, '3.5.21') : undefined;
  if (claim === undefined) throw new Error(JSON.stringify(read));
  return claim;
}

async function obstacleTo(api: Api, claim: object | Failure): Promise<string | undefined> {
  const backup = backups[api];
  if (!backup.ok) throw new Error(JSON.stringify(backup.problems));
  const get = async (): Promise<unknown> => {
    if (claim instanceof Failure) throw claim;
    return claim;
  };
  const context = {
    client: { get },
    now: () => new Date(),
    image: { name: 'ours' },
    dialect: coreosBackups,
    caches: { agents: { by: () => [] } },
    operators: { namespace: 'etcd-operator', urls: [] },
    terminating: new TerminatingPods(new VirtualClock()),
  } as unknown as BackupContext;
  return (await observeBackup(backup.value, context)).world.obstacle;
}

describe.each(apis)('a backup of the %s API to a PVC', (api) => {
  it.each(apis)('is refused if the PVC belongs to a member of the %s API', async (of) => {
    const { ownerReferences: _, ...left } = claimOf(of).metadata;
    const { labels: _l, ...unlabelled } = left;
    const owned = {
      metadata: {
        name: 'db-0',
        ownerReferences: [{ apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdRestore', name: 'r' }],
      },
    };
    expect(await obstacleTo(api, claimOf(of))).toContain('PersistentVolumeClaim "db-0"');
    expect(await obstacleTo(api, { metadata: left })).toContain('belongs to a member (label');
    expect(await obstacleTo(api, { metadata: unlabelled })).toContain('belongs to a member (annotation');
    expect(await obstacleTo(api, owned)).toContain(
      'belongs to EtcdRestore "r": name a PVC that is used for backups only',
    );
  });

  it('is made if the PVC has the label for backups and belongs to no member', async () => {
    const labels = { app: 'backups', 'etcd-operator/backups': 'true' };
    expect(await obstacleTo(api, { metadata: { name: 'db-0', labels } })).toBeUndefined();
  });

  it.each([{}, { 'etcd-operator/backups': 'false' }])('waits if the PVC has only the labels %j', async (labels) => {
    const remedy = 'is not labelled for backups: kubectl label pvc db-0 etcd-operator/backups=true';
    expect(await obstacleTo(api, { metadata: { name: 'db-0', labels } })).toContain(remedy);
  });

  it('waits until the PVC exists: a PVC created later under its name may be one of a member', async () => {
    const message = 'PersistentVolumeClaim "db-0" does not exist: create it in namespace "tenant"';
    expect(await obstacleTo(api, new Failure('not-found', 'not found'))).toContain(message);
  });

  it('waits if the operator may not read PersistentVolumeClaims', async () => {
    expect(await obstacleTo(api, new Failure('forbidden', 'may not get claims'))).toBe('may not get claims');
  });
});
