import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { run } from '../../tools/lib/run.ts';
import { etcdProgram } from '../../tools/programs/build.ts';
import { startAgentKillingStore } from '../support/agent-killing-store.ts';
import { fieldOf, namesOf } from '../support/api.ts';
import { applyBackup, backedUp, createSecret, resourceOf, startS3ForPods } from '../support/backups.ts';
import { declared } from '../support/cluster.ts';
import { endpointsOf } from '../support/member-endpoints.ts';
import { installOperator } from '../support/operator.ts';
import { openOn, type StoreServer } from '../support/store-servers.ts';
import { story } from '../support/story.ts';
import { allKeys, writeKeys } from '../support/test-keys.ts';
import { certificatesFor, tlsOf } from '../support/tls-cluster.ts';
import { until } from '../support/until.ts';
import { condition, field, inSeconds, waitFor } from '../support/waits.ts';

type Kubectl = Parameters<typeof createSecret>[0];

const s3At = (server: StoreServer, key: string): object => ({
  s3: { path: `backups/${key}`, awsSecret: 'aws', endpoint: server.address.endpoint, forcePathStyle: true },
});

async function applyRestore(kubectl: Kubectl, name: string, spec: object): Promise<void> {
  await kubectl('apply -f -', { input: resourceOf('EtcdRestore', name, { etcdCluster: { name: 'db' }, ...spec }) });
}

async function* bytes(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

story.onOurCluster(
  'a restore of a cluster with TLS restores every key and revision although agents are killed',
  async (context) => {
    const { kubectl, step, namespace } = context;
    const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
    const db = declared(kubectl, 'db', { tls: await certificates.client() });
    await using server = await startS3ForPods();
    await using killingStore = await startAgentKillingStore(server, { key: 'saved.db', turns: [0, 2, 3] });
    await kubectl(`label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`);
    await installOperator(context);
    await certificates.write();
    await createSecret(kubectl, 'aws', server.secret);
    const before = await step('the backup succeeds although its agent is killed; then the data changes', async () => {
      await db.apply({ size: 3, version: '3.6.16', durable: true, extra: { TLS: tlsOf('db', ['peer', 'client']) } });
      await db.settled(3);
      await writeKeys(db, 'good');
      const seen = await allKeys(db);
      await applyBackup(kubectl, 'saved', {
        etcdCluster: { name: 'db' },
        storageType: 'S3',
        ...s3At(killingStore.server, 'saved.db'),
      });
      await backedUp(kubectl, 'saved');
      expect(killingStore.kills).toBeGreaterThan(0);
      await writeKeys(db, 'bad');
      return seen;
    });
    await step('a restore of a damaged backup leaves the cluster unchanged', async () => {
      using store = await openOn(server);
      const whole = Buffer.concat(await Array.fromAsync((await store.get('saved.db')).body));
      whole[whole.length >> 1] = (whole[whole.length >> 1] ?? 0) ^ 1;
      await store.put('damaged.db', bytes(whole));
      const [pods, ids] = [await db.podNames(), await db.ids()];
      await applyRestore(kubectl, 'damaged', { backupStorageType: 'S3', ...s3At(server, 'damaged.db') });
      await waitFor(kubectl, 'etcdrestore/damaged', inSeconds(120, condition('Succeeded', 'False')));
      expect(await fieldOf(kubectl, 'etcdrestore/damaged', '.status.reason')).toContain('is not a whole snapshot');
      expect([await db.podNames(), await db.ids()]).toEqual([pods, ids]);
      const left = await until('the PVCs of the restore are deleted', async () => {
        const claims = await namesOf(kubectl, 'persistentvolumeclaims');
        return claims.length === pods.length ? claims : undefined;
      });
      for (const pod of pods) expect(left).toContain(pod);
    });
    await step('a restore of the good backup completes although agents and the operator are killed', async () => {
      const [oldPods, kills] = [await db.podNames(), killingStore.kills];
      await applyRestore(kubectl, 'db', { backupStorageType: 'S3', ...s3At(killingStore.server, 'saved.db') });
      await killingStore.killed(kills + 2); // the verifying and the downloading agent, in any order
      await until('the restore is past its Proving phase', async () => {
        const phase = await fieldOf(kubectl, 'etcdrestore/db', '.status.phase');
        return (phase !== '' && phase !== 'Proving') || undefined;
      });
      await kubectl('delete pods -l name=etcd-operator --grace-period=0 --force');
      await waitFor(kubectl, 'etcdrestore/db', inSeconds(240, field('.status.succeeded', true)));
      await db.settled(3);
      expect(await allKeys(db)).toEqual(before);
      const newPods = await db.podNames();
      expect(newPods.filter((pod) => oldPods.includes(pod))).toEqual([]);
      await until('the old volumes are kept', async () => {
        const kept = await fieldOf(kubectl, db.resource, '.status.keptVolumes[*].name');
        return oldPods.every((pod) => kept.split(' ').includes(pod)) || undefined;
      });
      await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"keepRemovedVolumesSeconds":1}}'`);
      await kubectl(`wait persistentvolumeclaims ${oldPods.join(' ')} --for=delete --timeout=90s`);
    });
    await step('the restored cluster accepts writes and survives the deletion of its pods', async () => {
      await writeKeys(db, 'new');
      await kubectl(`delete pod ${(await db.podNames()).join(' ')}`);
      await db.settled(3);
      expect((await allKeys(db))[0]).toContain('new');
    });
  },
);

story.onOurCluster('a snapshot of etcdctl is restored into a cluster without PVCs', async (context) => {
  const { kubectl, step } = context;
  const version = '3.3.12';
  const db = declared(kubectl);
  await installOperator(context);
  await using server = await startS3ForPods();
  await createSecret(kubectl, 'aws', server.secret);
  const file = `${server.directory}/fixture.db`;
  const before = await step('etcdctl of the same version saves a snapshot', async () => {
    await db.apply({ size: 1, version });
    await db.settled(1);
    await writeKeys(db, 'good');
    const [endpoint] = await endpointsOf(kubectl, { name: 'db', label: 'etcd_cluster=db' });
    const args = ['--endpoints', endpoint?.url ?? '', 'snapshot', 'save', file];
    await run(etcdProgram(version, 'etcdctl'), args, { env: { ETCDCTL_API: '3' } });
    using store = await openOn(server);
    await store.put('fixture.db', bytes(await readFile(file)));
    return allKeys(db);
  });
  await step('the snapshot is restored after all pods were deleted', async () => {
    await kubectl('delete pods -l etcd_cluster=db');
    await waitFor(kubectl, 'etcdcluster/db', inSeconds(120, field('.status.phase', 'Failed')));
    await applyRestore(kubectl, 'again', { backupStorageType: 'S3', ...s3At(server, 'fixture.db') });
    await waitFor(kubectl, 'etcdrestore/again', inSeconds(240, field('.status.succeeded', true)));
    await db.settled(1);
    expect(await allKeys(db)).toEqual(before);
    const warnings = await fieldOf(kubectl, 'etcdrestore/again', '.status.backup.warnings');
    expect(warnings).toContain(
      'the etcd version of this snapshot is unknown: it has neither a manifest nor a storage version',
    );
  });
  await step('members added by a scale-up have the data', async () => {
    await kubectl('scale etcdcluster db --replicas=3');
    await db.settled(3);
    expect(await allKeys(db)).toEqual(before);
  });
});
