import { expect } from 'vitest';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { askedBy } from '../support/audit-log.ts';
import { applyBackup, backedUp, claimManifest, resourceOf } from '../support/backups.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor } from '../support/operator.ts';
import { rightsIn } from '../support/roles.ts';
import { type Story, story } from '../support/story.ts';
import { entryIn, withCertificates } from '../support/tls-cluster.ts';
import { until } from '../support/until.ts';

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
    const { spec } = await kubectl.json<{ spec: { selector: Record<string, string> } }>('get service db-client');
    return spec.selector['app'] !== 'nobody' || undefined;
  });
}

async function saveAndRestore(db: DeclaredCluster, kubectl: Kubectl): Promise<void> {
  await kubectl('apply -f -', { input: claimManifest('backups') });
  const store = { pvc: { claimName: 'backups', path: 'db' } };
  await applyBackup(kubectl, 'saved', { etcdCluster: { name: 'db' }, storageType: 'PVC', ...store });
  // The original's, which is taken away.
  await kubectl(`patch etcdbackup saved --type=merge -p '{"metadata":{"finalizers":["backup-operator-periodic"]}}'`);
  await backedUp(kubectl, 'saved');
  const spec = { etcdCluster: { name: 'db' }, backupStorageType: 'PVC', revisionBump: 1_000_000, ...store };
  await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'db', spec) });
  await kubectl('wait etcdrestore/db --for=jsonpath={.status.succeeded}=true --timeout=180s');
  await db.settled(1);
  const revision = await until('it answers', () => db.withMembers(async ([only]) => (await only?.status())?.revision));
  expect(revision).toBeGreaterThanOrEqual(1_000_000n);
}

const volumeClaimTemplate = { resources: { requests: { storage: '256Mi' } } };
/** So that a cluster that is deleted takes its disks along. */
const goesWithIt = { coreos: {}, improbable: { storage: { volumeClaimPolicy: 'Delete', volumeClaimTemplate } } };

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
  await step('another version is noted beside the data', async () => {
    await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"3.7.3"}}'`);
    await kubectl(`wait ${db.resource} --for=jsonpath={.status.${api.status.version}}=3.7.3 --timeout=120s`);
  });
  await step('a member loses its disk, a service its members', async () => {
    await loseDiskAndPod(db, kubectl);
    await disturbService(kubectl);
  });
  await step('a cluster behind certificates serves', async () => {
    const extra = goesWithIt[api.name];
    const certificates = await withCertificates(kubectl, { name: 'safe', namespace, size: 1, version, api, extra });
    await kubectl(`wait ${api.resource}/safe --for=jsonpath={.status.${api.status.ready}}=1 --timeout=90s`);
    await certificates.write();
    const renewed = (await entryIn(kubectl, 'safe-peer', 'peer')).tls.cert;
    await until('renewed certificates are kept for members', async () => {
      return (await entryIn(kubectl, 'safe-member-tls', 'peer')).tls.cert === renewed || undefined;
    });
  });
  await step('one member is enough', async () => {
    await kubectl(`scale ${db.resource} --replicas=1`);
    await db.settled(1);
  });
  if (api === coreos) await step('it is saved to a volume, and restored from there', () => saveAndRestore(db, kubectl));
  await step('an even size once more is told in the same Event', async () => {
    await kubectl(`scale ${db.resource} --replicas=4`);
    await kubectl('wait events --field-selector reason=EvenSize --for=jsonpath={.count}=2 --timeout=60s');
  });
  await step('deleted, both leave nothing', async () => {
    await kubectl(`delete ${api.resource} db safe`);
    await kubectl(`wait pods,persistentvolumeclaims -l '${api.label} in (db, safe)' --for=delete --timeout=60s`);
  });
  await step('the audit log shows the rights of the Role, all of them and no other', async () => {
    const asked = askedBy(nodes.auditLog, `${namespace}:etcd-operator-sa`);
    expect(asked.filter(({ isGranted }) => !isGranted)).toEqual([]);
    const used = new Set(asked.filter(({ resource }) => resource !== everybodys).map(({ right }) => right));
    expect([...used].toSorted()).toEqual(rightsIn(`examples/${api.name}/etcd-operator-role.yaml`, 'Role'));
  });
}
