import { join } from 'node:path';
import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { createSecret, startS3ForPods, statusOfStored } from '../support/backups.ts';
import { declaredIn } from '../support/cluster.ts';
import { type Kubectl, kubectlIn } from '../support/kubectl.ts';
import { underTest, withFlags } from '../support/operator.ts';
import { everything } from '../support/restored.ts';
import { openOn, type StoreServer } from '../support/store-servers.ts';
import { type Story, story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const eco = join(import.meta.dirname, '../../deploy/eco');
const home = 'eco-system';
const deployment = 'deployment/eco-etcd-operator';
const backups = 'etcdbackups.etcd.improbable.io';
const restores = 'etcdrestores.etcd.improbable.io';
const couriers = 'pods -l app=etcd-courier';
const schedules = 'etcdbackupschedules.etcd.improbable.io';

/** The operator under the original's names, for all namespaces, with a Secret that no tenant can see. */
async function installEco({ kubectl }: Story, flags: readonly string[]): Promise<void> {
  await kubectl(`wait namespace/${home} --for=delete --timeout=120s`, {}, home);
  const all = withFlags(underTest(await kubectl(`kustomize ${eco}`)), flags);
  await kubectl('apply --server-side -f -', { input: all }, home);
  await kubectl(`rollout status ${deployment} --timeout=90s`, {}, home);
}

async function removeEco({ kubectl }: Story): Promise<void> {
  await kubectl(`delete namespace ${home} --wait=false --ignore-not-found`, {}, 'default');
  const names = ['eco-etcd-operator', 'eco-etcd-improbable-edit', 'eco-etcd-improbable-view'].join(' ');
  await kubectl(`delete clusterrole ${names} --ignore-not-found`, {}, 'default');
  await kubectl('delete clusterrolebinding eco-etcd-operator --ignore-not-found', {}, 'default');
}

/** As the original's README writes them: a server of one's own in the URL, and credentials nowhere. */
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
  "backups, a schedule and a restore without credentials use the operator's, which tenants never see",
  async (told) => {
    const { kubectl, step, namespace } = told;
    const atHome = kubectlIn(home);
    const db = declaredIn(improbable)(kubectl);
    await using server = await startS3ForPods();
    using store = await openOn(server);
    const keys = async (below: string): Promise<readonly string[]> =>
      (await Array.fromAsync(store.list(below))).map(({ key }) => key).filter((key) => !key.endsWith('.json'));
    try {
      await installEco(told, ['--store-secret=store', `'--store-urls=${urlOn(server, '{{ .Namespace }}/')}'`]);
      await step('a cluster with data in it', async () => {
        await db.apply({ size: 1, version: '3.6.16' });
        await db.settled(1);
        await db.withMembers(async ([only]) => void (await only?.put('key/1', Buffer.from('value'))));
      });
      await step('a backup waits for the Secret, and for a URL that it may use', async () => {
        const spec = specFor(urlOn(server, '{{ .Namespace }}/{{ .Name }}.db'));
        await applied(kubectl, 'EtcdBackup', { metadata: { name: 'original' }, spec });
        const forbidden = specFor(urlOn(server, 'somebody-elses.db'));
        await applied(kubectl, 'EtcdBackup', { metadata: { name: 'elsewhere' }, spec: forbidden });
        for (const name of ['original', 'elsewhere'])
          await waitFor(kubectl, `${backups}/${name}`, field('.status.conditions[0].reason', 'BackupBlocked'));
        expect(await shown(kubectl, `${backups}/elsewhere`, '.status.message')).toContain('may be used');
      });
      await step('it is made, as its original says it', async () => {
        await createSecret(atHome, 'store', server.secret);
        await waitFor(kubectl, `${backups}/original`, inSeconds(120, field('.status.phase', 'Completed')));
        const { status } = await kubectl.json<{ status: object }>(`get ${backups} original`);
        expect(status).toMatchObject({ revision: 2, etcdVersion: '3.6.16', verified: true });
        expect(await statusOfStored(server, `${namespace}/original.db`)).toMatchObject({ revision: 2 });
        expect(await kubectl('get pods -l app=etcd-backup -o name')).toBe('');
        expect(await kubectl('get secrets -o name')).not.toContain('store');
      });
      await step(
        'so is a restore of it, by way of a courier that comes back when it is killed, and goes at the end',
        async () => {
          const copy = declaredIn(improbable)(kubectl, 'copy');
          const restore = (name: string, key: string): Promise<string> => {
            const clusterTemplate = { clusterName: name, spec: { replicas: 1, version: '3.6.16' } };
            const spec = { source: { objectURL: urlOn(server, key) }, clusterTemplate };
            return applied(kubectl, 'EtcdRestore', { metadata: { name }, spec });
          };
          await restore('copy', `${namespace}/original.db`);
          await restore('elsewhere', 'somebody-elses.db');
          await until('a courier', async () => (await atHome(`get ${couriers} -o name`)) || undefined);
          await atHome(`delete ${couriers} --grace-period=0 --force`);
          await waitFor(kubectl, `${restores}/copy`, inSeconds(300, field('.status.phase', 'Completed')));
          await copy.settled(1);
          expect(await everything(copy)).toEqual(await everything(db));
          await atHome(`wait ${couriers} --for=delete --timeout=60s`);
          expect(await shown(kubectl, `${restores}/elsewhere`, '.status.reason')).toContain('may be used');
          expect(await kubectl('get secrets -o name')).not.toContain('secret/store');
          await kubectl(`delete ${restores} copy elsewhere`);
        },
      );
      await step('one that is deleted takes its agent along, wherever that is', async () => {
        const nowhere = specFor(urlOn(server, '{{ .Namespace }}/never.db'), 'http://10.255.255.1:2379');
        await applied(kubectl, 'EtcdBackup', { metadata: { name: 'stuck' }, spec: nowhere });
        const label = await until('its uid', () => shown(kubectl, `${backups}/stuck`, '.metadata.uid'));
        const pods = `pods -l etcd.improbable.io/agent-for=${label}`;
        await until('its agent', async () => (await atHome(`get ${pods} -o name`)) || undefined);
        await kubectl(`delete ${backups} stuck elsewhere`);
        await atHome(`wait ${pods} --for=delete --timeout=60s`);
      });
      await step('a schedule that the original has left goes on, over an outage of the operator', async () => {
        const finalizers = ['finalizers.etcd.improbable.io/backup-schedule-cancel'];
        const template = {
          ...specFor(urlOn(server, '{{ .Namespace }}/often/{{ .UID }}.db')),
          retention: { maxBackups: 2 },
        };
        const spec = { schedule: '@every 3s', successfulBackupsHistoryLimit: 1, backupTemplate: template };
        await applied(kubectl, 'EtcdBackupSchedule', { metadata: { name: 'often', finalizers }, spec });
        const lastSuccess = (): Promise<string> => shown(kubectl, `${schedules}/often`, '.status.lastSuccessfulTime');
        const before = await until('a first one', async () => (await lastSuccess()) || undefined);
        await kubectl(`scale ${deployment} --replicas=0`, {}, home);
        await atHome('wait pods -l name=etcd-operator --for=delete --timeout=60s');
        await kubectl(`scale ${deployment} --replicas=1`, {}, home);
        await until('another, and two in the store', async () => {
          const made = await keys(`${namespace}/often/`);
          return ((await lastSuccess()) !== before && made.length === 2) || undefined;
        });
      });
      await step('suspended, it keeps what it is told to', async () => {
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
      await step('deleted, it takes its resources along, and leaves what is stored', async () => {
        await kubectl(`delete ${schedules} often --timeout=60s`);
        await waitForDeletion(kubectl, `${backups} -l etcd.improbable.io/backup-schedule-name=often`);
        expect(await keys(`${namespace}/often/`)).toHaveLength(2);
      });
    } finally {
      await removeEco(told);
    }
  },
);
