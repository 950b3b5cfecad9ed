import { join } from 'node:path';
import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { createSecret, startS3ForPods, storedSnapshotStatus } from '../support/backups.ts';
import { declaredIn } from '../support/cluster.ts';
import { type Kubectl, kubectlIn } from '../support/kubectl.ts';
import { underTest, withFlags } from '../support/operator.ts';
import { openOn, type StoreServer } from '../support/store-servers.ts';
import { type StoryContext, story } from '../support/story.ts';
import { allKeys } from '../support/test-keys.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const eco = join(import.meta.dirname, '../../deploy/eco');
const ecoNamespace = 'eco-system';
const deployment = 'deployment/eco-etcd-operator';
const backups = 'etcdbackups.etcd.improbable.io';
const restores = 'etcdrestores.etcd.improbable.io';
const storeProxies = 'pods -l app=etcd-store-proxy';
const schedules = 'etcdbackupschedules.etcd.improbable.io';

/** Installs the operator with the original's names, for all namespaces, with a Secret that no tenant can read. */
async function installEco({ kubectl }: StoryContext, flags: readonly string[]): Promise<void> {
  await kubectl(`wait namespace/${ecoNamespace} --for=delete --timeout=120s`, {}, ecoNamespace);
  const all = withFlags(underTest(await kubectl(`kustomize ${eco}`)), flags);
  await kubectl('apply --server-side -f -', { input: all }, ecoNamespace);
  await kubectl(`rollout status ${deployment} --timeout=90s`, {}, ecoNamespace);
}

async function removeEco({ kubectl }: StoryContext): Promise<void> {
  await kubectl(`delete namespace ${ecoNamespace} --wait=false --ignore-not-found`, {}, 'default');
  const names = ['eco-etcd-operator', 'eco-etcd-improbable-edit', 'eco-etcd-improbable-view'].join(' ');
  await kubectl(`delete clusterrole ${names} --ignore-not-found`, {}, 'default');
  await kubectl('delete clusterrolebinding eco-etcd-operator --ignore-not-found', {}, 'default');
}

/** A URL as in the original's README: with the endpoint of a private server, without credentials. */
const urlOn = ({ address }: StoreServer, path: string): string =>
  `s3://backups/${path}?endpoint=${address.endpoint}&disableSSL=true&s3ForcePathStyle=true&region=us-east-1`;

const specFor = (objectURLTemplate: string, clusterURL = 'http://db:2379'): object => ({
  source: { clusterURL },
  destination: { objectURLTemplate },
});

const applied = (kubectl: Kubectl, kind: string, object: { metadata: object; spec: object }): Promise<string> =>
  kubectl('apply -f -', { input: JSON.stringify({ apiVersion: improbable.apiVersion, kind, ...object }) });

interface Seen {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

story.onOurCluster(
  "backups, schedules and restores use the operator's store credentials, and tenants cannot read them",
  async (context) => {
    const { kubectl, step, namespace } = context;
    const inEcoNamespace = kubectlIn(ecoNamespace);
    const db = declaredIn(improbable)(kubectl);
    await using server = await startS3ForPods();
    using store = await openOn(server);
    const keys = async (below: string): Promise<readonly string[]> =>
      (await Array.fromAsync(store.list(below))).map(({ key }) => key).filter((key) => !key.endsWith('.json'));
    try {
      await installEco(context, ['--store-secret=store', `'--store-urls=${urlOn(server, '{{ .Namespace }}/')}'`]);
      await step('a cluster with one key', async () => {
        await db.apply({ size: 1, version: '3.6.16' });
        await db.settled(1);
        await db.withMembers(async ([only]) => void (await only?.put('key/1', Buffer.from('value'))));
      });
      await step('a backup is blocked without the Secret, and with a forbidden URL', async () => {
        const spec = specFor(urlOn(server, '{{ .Namespace }}/{{ .Name }}.db'));
        await applied(kubectl, 'EtcdBackup', { metadata: { name: 'original' }, spec });
        const forbidden = specFor(urlOn(server, 'another-tenant.db'));
        await applied(kubectl, 'EtcdBackup', { metadata: { name: 'elsewhere' }, spec: forbidden });
        for (const name of ['original', 'elsewhere'])
          await waitFor(kubectl, `${backups}/${name}`, field('.status.conditions[0].reason', 'BackupBlocked'));
        expect(await fieldOf(kubectl, `${backups}/elsewhere`, '.status.message')).toContain('may be used');
      });
      await step(
        'the backup completes once the Secret exists, and leaves no Secret or pod with the tenant',
        async () => {
          await createSecret(inEcoNamespace, 'store', server.secret);
          await waitFor(kubectl, `${backups}/original`, inSeconds(120, field('.status.phase', 'Completed')));
          const { status } = await kubectl.json<{ status: object }>(`get ${backups} original`);
          expect(status).toMatchObject({ revision: 2, etcdVersion: '3.6.16', verified: true });
          expect(await storedSnapshotStatus(server, `${namespace}/original.db`)).toMatchObject({ revision: 2 });
          expect(await kubectl('get pods -l app=etcd-backup -o name')).toBe('');
          expect(await kubectl('get secrets -o name')).not.toContain('store');
        },
      );
      await step(
        'a restore reads through a store proxy, which is recreated if killed and deleted at the end',
        async () => {
          const copy = declaredIn(improbable)(kubectl, 'copy');
          const restore = (name: string, key: string): Promise<string> => {
            const clusterTemplate = { clusterName: name, spec: { replicas: 1, version: '3.6.16' } };
            const spec = { source: { objectURL: urlOn(server, key) }, clusterTemplate };
            return applied(kubectl, 'EtcdRestore', { metadata: { name }, spec });
          };
          await restore('copy', `${namespace}/original.db`);
          await restore('elsewhere', 'another-tenant.db');
          await until('a store proxy', async () => (await inEcoNamespace(`get ${storeProxies} -o name`)) || undefined);
          await inEcoNamespace(`delete ${storeProxies} --grace-period=0 --force`);
          await waitFor(kubectl, `${restores}/copy`, inSeconds(300, field('.status.phase', 'Completed')));
          await copy.settled(1);
          expect(await allKeys(copy)).toEqual(await allKeys(db));
          await inEcoNamespace(`wait ${storeProxies} --for=delete --timeout=60s`);
          expect(await fieldOf(kubectl, `${restores}/elsewhere`, '.status.reason')).toContain('may be used');
          expect(await kubectl('get secrets -o name')).not.toContain('secret/store');
          await kubectl(`delete ${restores} copy elsewhere`);
        },
      );
      await step('a deleted backup deletes its agent in the namespace of the operator', async () => {
        const nowhere = specFor(urlOn(server, '{{ .Namespace }}/never.db'), 'http://10.255.255.1:2379');
        await applied(kubectl, 'EtcdBackup', { metadata: { name: 'stuck' }, spec: nowhere });
        const label = await until('the UID of the backup', () => fieldOf(kubectl, `${backups}/stuck`, '.metadata.uid'));
        const pods = `pods -l etcd.improbable.io/agent-for=${label}`;
        await until('the agent of the backup', async () => (await inEcoNamespace(`get ${pods} -o name`)) || undefined);
        await kubectl(`delete ${backups} stuck elsewhere`);
        await inEcoNamespace(`wait ${pods} --for=delete --timeout=60s`);
      });
      await step('a schedule created by the original operator continues after an outage of the operator', async () => {
        const finalizers = ['finalizers.etcd.improbable.io/backup-schedule-cancel'];
        const template = {
          ...specFor(urlOn(server, '{{ .Namespace }}/often/{{ .UID }}.db')),
          retention: { maxBackups: 2 },
        };
        const spec = { schedule: '@every 3s', successfulBackupsHistoryLimit: 1, backupTemplate: template };
        await applied(kubectl, 'EtcdBackupSchedule', { metadata: { name: 'often', finalizers }, spec });
        const lastSuccess = (): Promise<string> => fieldOf(kubectl, `${schedules}/often`, '.status.lastSuccessfulTime');
        const before = await until('a first backup', async () => (await lastSuccess()) || undefined);
        await kubectl(`scale ${deployment} --replicas=0`, {}, ecoNamespace);
        await inEcoNamespace('wait pods -l name=etcd-operator --for=delete --timeout=60s');
        await kubectl(`scale ${deployment} --replicas=1`, {}, ecoNamespace);
        await until('another backup, and two objects in the store', async () => {
          const made = await keys(`${namespace}/often/`);
          return ((await lastSuccess()) !== before && made.length === 2) || undefined;
        });
      });
      await step('a suspended schedule keeps its retention limits', async () => {
        await kubectl(`patch ${schedules} often --type=merge -p '{"spec":{"suspend":true}}'`);
        await waitFor(
          kubectl,
          `${schedules}/often`,
          inSeconds(120, field('.status.conditions[0].reason', 'Suspended')),
        );
        await until('one resource and two objects', async () => {
          const { items } = await kubectl.json<Seen>(`get ${backups} -l etcd.improbable.io/backup-schedule-name=often`);
          return (items.length === 1 && (await keys(`${namespace}/often/`)).length === 2) || undefined;
        });
      });
      await step('a deleted schedule deletes its EtcdBackups, and leaves the stored objects', async () => {
        await kubectl(`delete ${schedules} often --timeout=60s`);
        await waitForDeletion(kubectl, `${backups} -l etcd.improbable.io/backup-schedule-name=often`);
        expect(await keys(`${namespace}/often/`)).toHaveLength(2);
      });
    } finally {
      await removeEco(context);
    }
  },
);
