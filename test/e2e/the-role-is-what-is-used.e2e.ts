import { expect } from 'vitest';
import { askedBy } from '../support/audit-log.ts';
import { applyBackup, backedUp, claimManifest, resourceOf } from '../support/backups.ts';
import { type DeclaredCluster, declared } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installOperator } from '../support/operator.ts';
import { rightsIn } from '../support/roles.ts';
import { story } from '../support/story.ts';
import { withCertificates } from '../support/tls-cluster.ts';
import { until } from '../support/until.ts';

const version = '3.6.16';
/** Everybody may ask what they may do. */
const everybodys = 'selfsubjectaccessreviews';

/** What makes the operator use rights that the life of a cluster that is well does not need. */
async function loseDiskAndPod(db: DeclaredCluster, kubectl: Kubectl): Promise<void> {
  const [victim = ''] = await db.podNames();
  await kubectl(`delete persistentvolumeclaim ${victim} --wait=false`);
  await kubectl(`delete pod ${victim}`);
  await db.replaced(victim, 3);
}

async function disturbService(kubectl: Kubectl): Promise<void> {
  await kubectl(`patch service db-client --type=merge -p '{"spec":{"selector":{"app":"nobody"}}}'`);
  await kubectl('wait service/db-client --for=jsonpath={.spec.selector.app}=etcd --timeout=30s');
}

story.onOurCluster('the operator uses every right that it is given, and asks for no other', async (told) => {
  const { kubectl, step, namespace, nodes } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await step('a cluster with disks grows to an even size, and back', async () => {
    await db.apply({ size: 3, version, durable: true });
    await db.settled(3);
    for (const size of [4, 3]) {
      await kubectl(`scale etcdcluster db --replicas=${size}`);
      await db.settled(size);
    }
  });
  await step('another version is noted beside the data', async () => {
    await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.7.3"}}'`);
    await kubectl('wait etcdcluster/db --for=jsonpath={.status.currentVersion}=3.7.3 --timeout=120s');
  });
  await step('a member loses its disk, a service its members', async () => {
    await loseDiskAndPod(db, kubectl);
    await disturbService(kubectl);
  });
  await step('a cluster behind certificates serves', async () => {
    await withCertificates(kubectl, { name: 'safe', namespace, size: 1, version });
    await kubectl('wait etcdcluster/safe --for=jsonpath={.status.readyMembers}=1 --timeout=90s');
  });
  await step('one member is enough', async () => {
    await kubectl('scale etcdcluster db --replicas=1');
    await db.settled(1);
  });
  await step('it is saved to a volume, and restored from there', async () => {
    await kubectl('apply -f -', { input: claimManifest('backups') });
    const store = { pvc: { claimName: 'backups', path: 'db' } };
    await applyBackup(kubectl, 'saved', { etcdCluster: { name: 'db' }, storageType: 'PVC', ...store });
    // The original's, which is taken away.
    await kubectl(`patch etcdbackup saved --type=merge -p '{"metadata":{"finalizers":["backup-operator-periodic"]}}'`);
    await backedUp(kubectl, 'saved');
    const restore = resourceOf('EtcdRestore', 'db', {
      revisionBump: 1_000_000,
      etcdCluster: { name: 'db' },
      backupStorageType: 'PVC',
      ...store,
    });
    await kubectl('apply -f -', { input: restore });
    await kubectl('wait etcdrestore/db --for=jsonpath={.status.succeeded}=true --timeout=180s');
    await db.settled(1);
    const revision = await until('it answers', () =>
      db.withMembers(async ([only]) => (await only?.status())?.revision),
    );
    expect(revision).toBeGreaterThanOrEqual(1_000_000n);
  });
  await step('an even size once more is told in the same Event', async () => {
    await kubectl('scale etcdcluster db --replicas=4');
    await kubectl('wait events --field-selector reason=EvenSize --for=jsonpath={.count}=2 --timeout=60s');
  });
  await step('deleted, both leave nothing', async () => {
    await kubectl('delete etcdcluster db safe');
    await kubectl('wait pods,persistentvolumeclaims -l app=etcd --for=delete --timeout=60s');
  });
  await step('the audit log shows the rights of the Role, all of them and no other', async () => {
    const asked = askedBy(nodes.auditLog, `${namespace}:etcd-operator-sa`);
    expect(asked.filter(({ isGranted }) => !isGranted)).toEqual([]);
    const used = new Set(asked.filter(({ resource }) => resource !== everybodys).map(({ right }) => right));
    expect([...used].toSorted()).toEqual(rightsIn('examples/coreos/etcd-operator-role.yaml', 'Role'));
  });
});
