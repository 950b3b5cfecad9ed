import { expect } from 'vitest';
import { fieldOf, read } from './api.ts';
import { type Api, coreos, improbable } from './apis.ts';
import { requestsOf } from './audit-log.ts';
import { applyBackup, backedUp, backUpImprobable, claimManifest, resourceOf } from './backups.ts';
import { type DeclaredCluster, declaredIn } from './cluster.ts';
import type { Kubectl } from './kubectl.ts';
import { installFor } from './operator.ts';
import { originalOfImprobable } from './original-improbable.ts';
import { createOriginal } from './originals.ts';
import { permissionsIn } from './roles.ts';
import type { StoryContext } from './story.ts';
import { clientAccessIn, withCertificates } from './tls-cluster.ts';
import { until } from './until.ts';
import { created, field, inSeconds, waitFor, waitForDeletion } from './waits.ts';

const version = '3.6.16';
/** Every account may create this resource. */
const grantedToAll = 'selfsubjectaccessreviews';

/** Makes the operator use permissions that a healthy cluster does not need. */
async function loseVolumeAndPod(db: DeclaredCluster, kubectl: Kubectl): Promise<void> {
  const [[victim = ''], before] = [await db.podNames(), await db.ids()];
  await kubectl(`delete persistentvolumeclaim ${victim} --wait=false`);
  await kubectl(`delete pod ${victim}`);
  await until('another member', async () => (await db.ids()).join() !== before.join() || undefined);
  await db.settled(3);
}

async function disturbService(kubectl: Kubectl): Promise<void> {
  await kubectl(`patch service db-client --type=merge -p '{"spec":{"selector":{"app":"none"}}}'`);
  await until('the selector is restored', async () => {
    const { spec } = await read<{ spec: { selector: Record<string, string> } }>(kubectl, 'service/db-client');
    return spec.selector['app'] !== 'none' || undefined;
  });
}

/** Creates the template of the pre-upgrade backup, with a PVC as destination. */
async function applyBackupTemplate(api: Api, kubectl: Kubectl, claimName: string): Promise<void> {
  const spec = {
    coreos: {
      etcdCluster: { name: 'db' },
      storageType: 'PVC',
      pvc: { claimName, path: 'upgrades/db' },
      backupPolicy: { suspend: true },
    },
    improbable: {
      source: { clusterName: 'db' },
      destination: { objectURLTemplate: `file://${claimName}/upgrades/db` },
    },
  };
  const resource = {
    apiVersion: api.apiVersion,
    kind: 'EtcdBackup',
    metadata: { name: 'template' },
    spec: spec[api.name],
  };
  await kubectl('apply -f -', { input: JSON.stringify(resource) });
}

async function saveAndRestore(db: DeclaredCluster, kubectl: Kubectl): Promise<void> {
  const store = { pvc: { claimName: 'backups', path: 'db' } };
  await applyBackup(kubectl, 'saved', { etcdCluster: { name: 'db' }, storageType: 'PVC', ...store });
  // The finalizer of the original. Our operator removes it.
  await kubectl(`patch etcdbackup saved --type=merge -p '{"metadata":{"finalizers":["backup-operator-periodic"]}}'`);
  await backedUp(kubectl, 'saved');
  const spec = { etcdCluster: { name: 'db' }, backupStorageType: 'PVC', revisionBump: 1_000_000, ...store };
  await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'db', spec) });
  await waitFor(kubectl, 'etcdrestore/db', inSeconds(180, field('.status.succeeded', true)));
  await db.settled(1);
  const revision = await until('the member answers', () =>
    db.withMembers(async ([only]) => (await only?.status())?.revision),
  );
  expect(revision).toBeGreaterThanOrEqual(1_000_000n);
  const copy = { etcdCluster: { name: 'copy', create: 'FromBackup' }, backupStorageType: 'PVC', ...store };
  await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'copy', copy) });
  await waitFor(kubectl, 'etcdrestore/copy', inSeconds(180, field('.status.succeeded', true)));
}

/** The same in the improbable API: a restore creates a cluster. */
async function saveAndRestoreIntoCopy(kubectl: Kubectl): Promise<void> {
  await kubectl('apply -f -', { input: claimManifest('backups') });
  await backUpImprobable(kubectl, 'db', 'file://backups/{{ .Name }}');
  const template = { clusterName: 'copy', spec: { replicas: 1, version: '3.7.3', ...deleteVolumes.improbable } };
  const resource = {
    ...{ apiVersion: improbable.apiVersion, kind: 'EtcdRestore', metadata: { name: 'copy' } },
    spec: { source: { objectURL: 'file://backups/db' }, clusterTemplate: template },
  };
  await kubectl('apply -f -', { input: JSON.stringify(resource) });
  await waitFor(kubectl, 'etcdrestores.etcd.improbable.io/copy', inSeconds(180, field('.status.phase', 'Completed')));
}

/** The original's cluster is paused at first, because our operator already runs. */
async function adoptOriginal(context: StoryContext): Promise<void> {
  const old = { name: 'old', size: 1, version, extra: { paused: true } };
  const { resource } = await createOriginal(originalOfImprobable, old, context);
  await context.kubectl(`patch ${resource} --type=merge -p '{"spec":{"paused":false}}'`);
  await waitFor(context.kubectl, resource, field('.status.clusterId'));
}

/** The schedule has the original's finalizer. Its EtcdBackups are deleted; the stored snapshots stay. */
async function saveBySchedule(kubectl: Kubectl): Promise<void> {
  await kubectl('apply -f -', { input: claimManifest('scheduled') });
  const schedule = {
    ...{ apiVersion: improbable.apiVersion, kind: 'EtcdBackupSchedule' },
    metadata: { name: 'often', finalizers: ['finalizers.etcd.improbable.io/backup-schedule-cancel'] },
    spec: {
      ...{ schedule: '@every 1s', successfulBackupsHistoryLimit: 0 },
      backupTemplate: {
        source: { clusterName: 'db' },
        destination: { objectURLTemplate: 'file://scheduled/{{ .UID }}.db' },
      },
    },
  };
  await kubectl('apply -f -', { input: JSON.stringify(schedule) });
  const often = 'etcdbackupschedules.etcd.improbable.io/often';
  await until('a backup is made', async () => {
    return (await fieldOf(kubectl, often, '.status.lastSuccessfulTime')) !== '' || undefined;
  });
  await kubectl(`patch ${often} --type=merge -p '{"spec":{"suspend":true}}'`);
  await waitForDeletion(kubectl, 'etcdbackups.etcd.improbable.io -l etcd.improbable.io/backup-schedule-name=often');
}

const volumeClaimTemplate = { resources: { requests: { storage: '256Mi' } } };
/** PVCs are deleted with their cluster or member, so that the operator uses its permission to delete them. */
const deleteVolumes = {
  coreos: { keepRemovedVolumesSeconds: 0 },
  improbable: { keepRemovedVolumesSeconds: 0, storage: { volumeClaimPolicy: 'Delete', volumeClaimTemplate } },
};

/** Uses every permission of a Role, and compares them with the audit log. */
export async function useEveryPermission(api: Api, context: StoryContext): Promise<void> {
  const { kubectl, step } = context;
  const db = declaredIn(api)(kubectl);
  await installFor(api, context);
  await scaleAndUpgrade(db, api, context);
  await step('a PVC and a pod are deleted, and a Service selector is changed', async () => {
    await loseVolumeAndPod(db, kubectl);
    await disturbService(kubectl);
  });
  if (api === improbable) await step('a schedule saves to a PVC', () => saveBySchedule(kubectl));
  await step('a cluster with TLS serves, and TLS is removed', () => serveWithTls(api, context));
  await step('scaled to one', async () => {
    await kubectl(`scale ${db.resource} --replicas=1`);
    await db.settled(1);
  });
  await step('a backup to a PVC is restored', () =>
    api === coreos ? saveAndRestore(db, kubectl) : saveAndRestoreIntoCopy(kubectl),
  );
  if (api === improbable) await step('a cluster of the original operator is adopted', () => adoptOriginal(context));
  await step('a second even size increments the count of the Event', async () => {
    await kubectl(`scale ${db.resource} --replicas=4`);
    await kubectl('wait events --field-selector reason=EvenSize --for=jsonpath={.count}=2 --timeout=60s');
  });
  await step('the member Secret is deleted after TLS is removed', () =>
    waitForDeletion(kubectl, 'secret/safe-member-tls', 180),
  );
  await step('deleted clusters leave no pod and no PVC', async () => {
    await kubectl(`delete ${api.resource} db safe copy`);
    await kubectl(`wait pods,persistentvolumeclaims -l '${api.label} in (db, safe, copy)' --for=delete --timeout=60s`);
  });
  await step('the audit log has exactly the permissions of the Role', async () => comparePermissions(api, context));
}

async function scaleAndUpgrade(db: DeclaredCluster, api: Api, context: StoryContext): Promise<void> {
  const { kubectl, step, namespace } = context;
  await step('a cluster with PVCs is scaled to four and back', async () => {
    await db.apply({ size: 3, version, durable: true, extra: deleteVolumes[api.name] });
    await db.settled(3);
    for (const size of [4, 3]) {
      await kubectl(`scale ${db.resource} --replicas=${size}`);
      await db.settled(size);
    }
  });
  await step('an upgrade after a pre-upgrade backup', async () => {
    await applyBackupTemplate(api, kubectl, 'missing');
    const spec = { version: '3.7.3', backupBeforeUpgrade: { like: 'template' } };
    await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec })}'`);
    const before = `etcdbackups.${api.apiVersion.split('/')[0]}/db-before-3.7.3`;
    await waitFor(kubectl, before, created); // blocked, and replaced once its template is corrected
    await kubectl('apply -f -', { input: claimManifest('backups') });
    await applyBackupTemplate(api, kubectl, 'backups');
    await waitFor(kubectl, db.resource, inSeconds(180, field(`.status.${api.status.version}`, '3.7.3')));
    const made = await kubectl(`get ${before} -o jsonpath={.status}`);
    expect(made).toContain(`"file://backups/upgrades/db-${namespace}.db-before-3.7.3"`);
    expect(made).toContain(`"${version}"`);
  });
}

async function serveWithTls(api: Api, { kubectl, namespace }: StoryContext): Promise<void> {
  const extra = deleteVolumes[api.name];
  const certificates = await withCertificates(kubectl, { name: 'safe', namespace, size: 1, version, api, extra });
  await waitFor(kubectl, `${api.resource}/safe`, inSeconds(90, field(`.status.${api.status.ready}`, 1)));
  await certificates.write();
  const renewed = (await clientAccessIn(kubectl, 'safe-peer', 'peer')).tls.cert;
  await until('the member Secret has the renewed certificate', async () => {
    return (await clientAccessIn(kubectl, 'safe-member-tls', 'peer')).tls.cert === renewed || undefined;
  });
  await kubectl(`patch ${api.resource}/safe --type=merge -p '${JSON.stringify({ spec: { [api.tlsField]: null } })}'`);
}

function comparePermissions(api: Api, { namespace, nodes }: StoryContext): void {
  const requests = requestsOf(nodes.auditLog, `${namespace}:etcd-operator-sa`);
  expect(requests.filter(({ isGranted }) => !isGranted)).toEqual([]);
  const used = new Set(
    requests.filter(({ resource }) => resource !== grantedToAll).map(({ permission }) => permission),
  );
  expect([...used].toSorted()).toEqual(permissionsIn(`examples/${api.name}/etcd-operator-role.yaml`, 'Role'));
}
