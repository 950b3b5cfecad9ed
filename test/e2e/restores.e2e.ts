import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { run } from '../../tools/lib/run.ts';
import { etcdProgram } from '../../tools/programs/build.ts';
import { namesOf, shown } from '../support/api.ts';
import { applyBackup, backedUp, createSecret, resourceOf, startS3ForPods } from '../support/backups.ts';
import { declared } from '../support/cluster.ts';
import { startDeadlyStore } from '../support/killed-agents.ts';
import { endpointsOf } from '../support/member-endpoints.ts';
import { installOperator } from '../support/operator.ts';
import { everything, write } from '../support/restored.ts';
import { openOn, type StoreServer } from '../support/store-servers.ts';
import { story } from '../support/story.ts';
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
  'a cluster with certificates gets its data back, key by key and revision by revision',
  async (told) => {
    const { kubectl, step, namespace } = told;
    const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
    const db = declared(kubectl, 'db', { tls: await certificates.client() });
    await using server = await startS3ForPods();
    await using deadly = await startDeadlyStore(server, { key: 'saved.db', turns: [0, 2, 3] });
    await kubectl(`label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`);
    await installOperator(told);
    await certificates.write();
    await createSecret(kubectl, 'aws', server.secret);
    const before = await step('data is saved, although the agent is killed, and then changed', async () => {
      await db.apply({ size: 3, version: '3.6.16', durable: true, extra: { TLS: tlsOf('db', ['peer', 'client']) } });
      await db.settled(3);
      await write(db, 'good');
      const seen = await everything(db);
      await applyBackup(kubectl, 'saved', {
        etcdCluster: { name: 'db' },
        storageType: 'S3',
        ...s3At(deadly.server, 'saved.db'),
      });
      await backedUp(kubectl, 'saved');
      expect(deadly.kills).toBeGreaterThan(0);
      await write(db, 'bad');
      return seen;
    });
    await step('a damaged backup leaves the cluster as it is', async () => {
      using store = await openOn(server);
      const whole = Buffer.concat(await Array.fromAsync((await store.get('saved.db')).body));
      whole[whole.length >> 1] = (whole[whole.length >> 1] ?? 0) ^ 1;
      await store.put('damaged.db', bytes(whole));
      const [pods, ids] = [await db.podNames(), await db.ids()];
      await applyRestore(kubectl, 'damaged', { backupStorageType: 'S3', ...s3At(server, 'damaged.db') });
      await waitFor(kubectl, 'etcdrestore/damaged', inSeconds(120, condition('Succeeded', 'False')));
      expect(await shown(kubectl, 'etcdrestore/damaged', '.status.reason')).toContain('is no whole snapshot');
      expect([await db.podNames(), await db.ids()]).toEqual([pods, ids]);
      const left = await until('what was made for it is gone', async () => {
        const claims = await namesOf(kubectl, 'persistentvolumeclaims');
        return claims.length === pods.length ? claims : undefined;
      });
      for (const pod of pods) expect(left).toContain(pod);
    });
    await step('the good one takes its place, on disks, although agents and the operator are killed', async () => {
      const [oldPods, kills] = [await db.podNames(), deadly.kills];
      await applyRestore(kubectl, 'db', { backupStorageType: 'S3', ...s3At(deadly.server, 'saved.db') });
      await deadly.killed(kills + 2); // the one that looks and the one that fetches, whoever comes first
      await until('it is under way', async () => {
        const phase = await shown(kubectl, 'etcdrestore/db', '.status.phase');
        return (phase !== '' && phase !== 'Proving') || undefined;
      });
      await kubectl('delete pods -l name=etcd-operator --grace-period=0 --force');
      await waitFor(kubectl, 'etcdrestore/db', inSeconds(240, field('.status.succeeded', true)));
      await db.settled(3);
      expect(await everything(db)).toEqual(before);
      const newPods = await db.podNames();
      expect(newPods.filter((pod) => oldPods.includes(pod))).toEqual([]);
      await until('the old volumes are kept', async () => {
        const kept = await shown(kubectl, db.resource, '.status.keptVolumes[*].name');
        return oldPods.every((pod) => kept.split(' ').includes(pod)) || undefined;
      });
      await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"keepRemovedVolumesSeconds":1}}'`);
      await kubectl(`wait persistentvolumeclaims ${oldPods.join(' ')} --for=delete --timeout=90s`);
    });
    await step('the cluster goes on: it takes writes, and is an ordinary one', async () => {
      await write(db, 'new');
      await kubectl(`delete pod ${(await db.podNames()).join(' ')}`);
      await db.settled(3);
      expect((await everything(db))[0]).toContain('new');
    });
  },
);

story.onOurCluster("a snapshot of etcdctl's own is restored into a cluster without disks", async (told) => {
  const { kubectl, step } = told;
  const version = '3.3.12';
  const db = declared(kubectl);
  await installOperator(told);
  await using server = await startS3ForPods();
  await createSecret(kubectl, 'aws', server.secret);
  const file = `${server.directory}/fixture.db`;
  const before = await step('saved by hand, with the tool of its version', async () => {
    await db.apply({ size: 1, version });
    await db.settled(1);
    await write(db, 'good');
    const [endpoint] = await endpointsOf(kubectl, { name: 'db', label: 'etcd_cluster=db' });
    const words = ['--endpoints', endpoint?.url ?? '', 'snapshot', 'save', file];
    await run(etcdProgram(version, 'etcdctl'), words, { env: { ETCDCTL_API: '3' } });
    using store = await openOn(server);
    await store.put('fixture.db', bytes(await readFile(file)));
    return everything(db);
  });
  await step('restored, although the cluster has lost everything', async () => {
    await kubectl('delete pods -l etcd_cluster=db');
    await waitFor(kubectl, 'etcdcluster/db', inSeconds(120, field('.status.phase', 'Failed')));
    await applyRestore(kubectl, 'again', { backupStorageType: 'S3', ...s3At(server, 'fixture.db') });
    await waitFor(kubectl, 'etcdrestore/again', inSeconds(240, field('.status.succeeded', true)));
    await db.settled(1);
    expect(await everything(db)).toEqual(before);
    const warnings = await shown(kubectl, 'etcdrestore/again', '.status.backup.warnings');
    expect(warnings).toContain('nothing tells which etcd made this snapshot');
  });
  await step('grown, all have it', async () => {
    await kubectl('scale etcdcluster db --replicas=3');
    await db.settled(3);
    expect(await everything(db)).toEqual(before);
  });
});
