import { expect } from 'vitest';
import { read, shown } from '../support/api.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { askedBy } from '../support/audit-log.ts';
import { applyBackup, backedUp, claimManifest, numberedSaved, resourceOf } from '../support/backups.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor } from '../support/operator.ts';
import { originalOfImprobable } from '../support/original-improbable.ts';
import { bringUp } from '../support/originals.ts';
import { rightsIn } from '../support/roles.ts';
import { type Story, story } from '../support/story.ts';
import { entryIn, withCertificates } from '../support/tls-cluster.ts';
import { until } from '../support/until.ts';
import { created, field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.6.16';
/** Everybody may ask what they may do. */
const everybodys = 'selfsubjectaccessreviews';

/** What makes the operator use rights that the life of a cluster that is well does not need. */
async function loseDiskAndPod(db: DeclaredCluster, kubectl: Kubectl): Promise<void> {
  const [[victim = ''], before] = [await db.podNames(), await db.ids()];
  await kubectl(`delete persistentvolumeclaim ${victim} --wait=false`);
  await kubectl(`delete pod ${victim}`);
  await until('another member', async () => (await db.ids()).join() !== before.join() || undefined);
  await db.settled(3);
}

async function disturbService(kubectl: Kubectl): Promise<void> {
  await kubectl(`patch service db-client --type=merge -p '{"spec":{"selector":{"app":"nobody"}}}'`);
  await until('its members are back', async () => {
    const { spec } = await read<{ spec: { selector: Record<string, string> } }>(kubectl, 'service/db-client');
    return spec.selector['app'] !== 'nobody' || undefined;
  });
}

/** A backup that says onto which claim one before an upgrade goes. */
async function likeness(api: Api, kubectl: Kubectl, claimName: string): Promise<void> {
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
    metadata: { name: 'likeness' },
    spec: spec[api.name],
  };
  await kubectl('apply -f -', { input: JSON.stringify(resource) });
}

async function saveAndRestore(db: DeclaredCluster, kubectl: Kubectl): Promise<void> {
  const store = { pvc: { claimName: 'backups', path: 'db' } };
  await applyBackup(kubectl, 'saved', { etcdCluster: { name: 'db' }, storageType: 'PVC', ...store });
  // The original's, which is taken away.
  await kubectl(`patch etcdbackup saved --type=merge -p '{"metadata":{"finalizers":["backup-operator-periodic"]}}'`);
  await backedUp(kubectl, 'saved');
  const spec = { etcdCluster: { name: 'db' }, backupStorageType: 'PVC', revisionBump: 1_000_000, ...store };
  await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'db', spec) });
  await waitFor(kubectl, 'etcdrestore/db', inSeconds(180, field('.status.succeeded', true)));
  await db.settled(1);
  const revision = await until('it answers', () => db.withMembers(async ([only]) => (await only?.status())?.revision));
  expect(revision).toBeGreaterThanOrEqual(1_000_000n);
  const copy = { etcdCluster: { name: 'copy', create: 'FromBackup' }, backupStorageType: 'PVC', ...store };
  await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'copy', copy) });
  await waitFor(kubectl, 'etcdrestore/copy', inSeconds(180, field('.status.succeeded', true)));
}

/** The same in an API whose restores make a cluster of their own. */
async function saveAndMakeAnother(kubectl: Kubectl): Promise<void> {
  await kubectl('apply -f -', { input: claimManifest('backups') });
  await numberedSaved(kubectl, 'db', 'file://backups/{{ .Name }}');
  const template = { clusterName: 'copy', spec: { replicas: 1, version: '3.7.3', ...goesWithIt.improbable } };
  const resource = {
    ...{ apiVersion: improbable.apiVersion, kind: 'EtcdRestore', metadata: { name: 'copy' } },
    spec: { source: { objectURL: 'file://backups/db' }, clusterTemplate: template },
  };
  await kubectl('apply -f -', { input: JSON.stringify(resource) });
  await waitFor(kubectl, 'etcdrestores.etcd.improbable.io/copy', inSeconds(180, field('.status.phase', 'Completed')));
}

/** Paused at first, since the operator is there before it. */
async function takeOver(told: Story): Promise<void> {
  const old = { name: 'old', size: 1, version, extra: { paused: true } };
  const { resource } = await bringUp(originalOfImprobable, old, told);
  await told.kubectl(`patch ${resource} --type=merge -p '{"spec":{"paused":false}}'`);
  await waitFor(told.kubectl, resource, field('.status.clusterId'));
}

/** What a schedule of the original has on it is taken away; of what it makes, nothing is kept but what is stored. */
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
  await until('one is made', async () => {
    return (await shown(kubectl, often, '.status.lastSuccessfulTime')) !== '' || undefined;
  });
  await kubectl(`patch ${often} --type=merge -p '{"spec":{"suspend":true}}'`);
  await waitForDeletion(kubectl, 'etcdbackups.etcd.improbable.io -l etcd.improbable.io/backup-schedule-name=often');
}

const volumeClaimTemplate = { resources: { requests: { storage: '256Mi' } } };
/** A cluster that is deleted takes its volumes along. Volumes of removed members are not kept, so that the operator deletes some. */
const goesWithIt = {
  coreos: { keepRemovedVolumesSeconds: 0 },
  improbable: { keepRemovedVolumesSeconds: 0, storage: { volumeClaimPolicy: 'Delete', volumeClaimTemplate } },
};

for (const api of [coreos, improbable])
  story.onOurCluster(`the operator uses every right that it is given for ${api.name}, and asks for no other`, (told) =>
    useEveryRight(api, told),
  );

async function useEveryRight(api: Api, told: Story): Promise<void> {
  const { kubectl, step, namespace, nodes } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
  await step('a cluster with disks grows to an even size, and back', async () => {
    await db.apply({ size: 3, version, durable: true, extra: goesWithIt[api.name] });
    await db.settled(3);
    for (const size of [4, 3]) {
      await kubectl(`scale ${db.resource} --replicas=${size}`);
      await db.settled(size);
    }
  });
  await step('another version is noted beside the data, after a backup', async () => {
    await likeness(api, kubectl, 'missing');
    const spec = { version: '3.7.3', backupBeforeUpgrade: { like: 'likeness' } };
    await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec })}'`);
    const before = `etcdbackups.${api.apiVersion.split('/')[0]}/db-before-3.7.3`;
    await waitFor(kubectl, before, created); // it is blocked, and makes room for another when its likeness is corrected
    await kubectl('apply -f -', { input: claimManifest('backups') });
    await likeness(api, kubectl, 'backups');
    await waitFor(kubectl, db.resource, inSeconds(180, field(`.status.${api.status.version}`, '3.7.3')));
    const made = await kubectl(`get ${before} -o jsonpath={.status}`);
    expect(made).toContain(`"file://backups/upgrades/db-${namespace}.db-before-3.7.3"`);
    expect(made).toContain(`"${version}"`);
  });
  await step('a member loses its disk, a service its members', async () => {
    await loseDiskAndPod(db, kubectl);
    await disturbService(kubectl);
  });
  if (api === improbable) await step('a schedule saves it to a volume', () => saveBySchedule(kubectl));
  await step('a cluster behind certificates serves', async () => {
    const extra = goesWithIt[api.name];
    const certificates = await withCertificates(kubectl, { name: 'safe', namespace, size: 1, version, api, extra });
    await waitFor(kubectl, `${api.resource}/safe`, inSeconds(90, field(`.status.${api.status.ready}`, 1)));
    await certificates.write();
    const renewed = (await entryIn(kubectl, 'safe-peer', 'peer')).tls.cert;
    await until('renewed certificates are kept for members', async () => {
      return (await entryIn(kubectl, 'safe-member-tls', 'peer')).tls.cert === renewed || undefined;
    });
    await kubectl(`patch ${api.resource}/safe --type=merge -p '${JSON.stringify({ spec: { [api.tlsField]: null } })}'`);
  });
  await step('one member is enough', async () => {
    await kubectl(`scale ${db.resource} --replicas=1`);
    await db.settled(1);
  });
  await step('it is saved to a volume, and restored from there', () =>
    api === coreos ? saveAndRestore(db, kubectl) : saveAndMakeAnother(kubectl),
  );
  if (api === improbable) await step('one that its original has made is taken over', () => takeOver(told));
  await step('an even size once more is told in the same Event', async () => {
    await kubectl(`scale ${db.resource} --replicas=4`);
    await kubectl('wait events --field-selector reason=EvenSize --for=jsonpath={.count}=2 --timeout=60s');
  });
  await step('without certificates it has none left', () => waitForDeletion(kubectl, 'secret/safe-member-tls', 180));
  await step('deleted, all leave nothing', async () => {
    await kubectl(`delete ${api.resource} db safe copy`);
    await kubectl(`wait pods,persistentvolumeclaims -l '${api.label} in (db, safe, copy)' --for=delete --timeout=60s`);
  });
  await step('the audit log shows the rights of the Role, all of them and no other', async () => {
    const asked = askedBy(nodes.auditLog, `${namespace}:etcd-operator-sa`);
    expect(asked.filter(({ isGranted }) => !isGranted)).toEqual([]);
    const used = new Set(asked.filter(({ resource }) => resource !== everybodys).map(({ right }) => right));
    expect([...used].toSorted()).toEqual(rightsIn(`examples/${api.name}/etcd-operator-role.yaml`, 'Role'));
  });
}
