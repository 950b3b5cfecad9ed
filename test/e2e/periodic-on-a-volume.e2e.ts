import { expect } from 'vitest';
import { read, shown } from '../support/api.ts';
import { applyBackup, type BackupStatusSeen, backedUp, claimManifest, resourceOf } from '../support/backups.ts';
import { type DeclaredCluster, declared } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { metricOf } from '../support/metrics.ts';
import { installOperator } from '../support/operator.ts';
import { everything, write } from '../support/restored.ts';
import { type Shelf, shelfOn } from '../support/shelf.ts';
import { story } from '../support/story.ts';
import { withCertificates } from '../support/tls-cluster.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const foreign = 'db_v99_not-a-date';
const onVolume = (path: string): object => ({ storageType: 'PVC', pvc: { claimName: 'backups', path } });

interface Seen extends BackupStatusSeen {
  readonly lastScheduleTime?: string;
  readonly nextScheduleTime?: string;
  readonly failures?: number;
  readonly lastBackup: { readonly path: string; readonly sizeBytes: number; readonly durationSeconds: string };
}

const statusOf = async (kubectl: Kubectl, name: string): Promise<Seen> =>
  (await read<{ status: Seen }>(kubectl, `etcdbackup/${name}`)).status;

const policy = (kubectl: Kubectl, name: string, backupPolicy: object): Promise<string> =>
  kubectl(`patch etcdbackup ${name} --type=merge -p '${JSON.stringify({ spec: { backupPolicy } })}'`);

async function suspended(kubectl: Kubectl, name: string): Promise<void> {
  await policy(kubectl, name, { suspend: true });
  await waitFor(kubectl, `etcdbackup/${name}`, field('.status.conditions[0].reason', 'Suspended'));
}

/** Those that were not there before, the oldest first. */
const ownOn = async (shelf: Shelf, others: readonly string[]): Promise<readonly string[]> =>
  (await shelf.snapshots('db_v')).filter((key) => !others.includes(key));

/** Waits until so many of them are left. */
const left = (shelf: Shelf, others: readonly string[], count: number): Promise<readonly string[]> =>
  until(`${count} are left`, async () => {
    const own = await ownOn(shelf, others);
    return own.length === count ? own : undefined;
  });

/** What an alert would go by. */
async function toldInMetrics(kubectl: Kubectl, name: string): Promise<void> {
  const { lastSuccessDate = '', lastBackup } = await statusOf(kubectl, name);
  const metric = (of: string): Promise<number | undefined> => metricOf(kubectl, `etcd_operator_backup_${of}`, name);
  expect(await metric('last_success_timestamp_seconds')).toBe(Date.parse(lastSuccessDate) / 1000);
  expect(await metric('size_bytes')).toBe(lastBackup.sizeBytes);
  expect(await metric('duration_seconds')).toBe(Number(lastBackup.durationSeconds));
  expect(await metric('failures')).toBe(0);
}

interface Scene {
  readonly kubectl: Kubectl;
  readonly shelf: Shelf;
  readonly db: DeclaredCluster;
  /** The URLs of all pods, and the Secret that opens them. */
  readonly source: object;
}

async function once({ kubectl, shelf, source }: Scene): Promise<void> {
  await applyBackup(kubectl, 'blind', { ...source, clientTLSSecret: 'nowhere', ...onVolume('blind.db') });
  await applyBackup(kubectl, 'once', { ...source, ...onVolume('once.db') });
  expect(await backedUp(kubectl, 'once')).toMatchObject({ etcdVersion: version, etcdRevision: 1, Reason: '' });
  await waitFor(kubectl, 'etcdbackup/blind', field('.status.conditions[0].reason', 'BackupBlocked'));
  expect(await shown(kubectl, 'etcdbackup/blind', '.status.Reason')).toContain('Secret "nowhere" is not there');
  expect(await shelf.snapshots()).toEqual(['once.db']);
}

/** What lies under the path before, which is of others. */
async function beside({ kubectl, shelf, source, db }: Scene): Promise<readonly string[]> {
  await shelf.put(foreign);
  const rarely = { ...source, ...onVolume('db'), backupPolicy: { backupIntervalInSecond: 3600 } };
  await applyBackup(kubectl, 'rarely', rarely);
  await backedUp(kubectl, 'rarely');
  await write(db, 'good');
  const others = await shelf.snapshots('db_v');
  expect(others).toHaveLength(2);
  return others;
}

async function often({ kubectl, shelf, source }: Scene, others: readonly string[]): Promise<void> {
  const backupPolicy = { backupIntervalInSecond: 2, maxBackups: 2, compression: 'gzip' };
  await applyBackup(kubectl, 'often', { ...source, ...onVolume('db'), backupPolicy });
  const first = await until('a first one', async () => (await ownOn(shelf, others))[0]);
  await until('the first is gone', async () => !(await shelf.snapshots()).includes(first) || undefined);
  await suspended(kubectl, 'often');
  const own = await left(shelf, others, 2);
  const { nextScheduleTime, ...status } = await statusOf(kubectl, 'often');
  expect(status).toMatchObject({
    succeeded: true,
    etcdRevision: 21,
    failures: 0,
    lastBackup: { path: `backups/${own[1]}` },
  });
  expect(Date.parse(status.lastScheduleTime ?? '')).toBeLessThanOrEqual(Date.now());
  expect(nextScheduleTime).toBeUndefined();
  expect(status.lastBackup.sizeBytes).toBeLessThan((await statusOf(kubectl, 'once')).lastBackup.sizeBytes / 2);
  await toldInMetrics(kubectl, 'often');
}

/** Made beside all else, for it takes up to a minute. */
async function byTheClock({ kubectl, source }: Scene): Promise<void> {
  const backupPolicy = { schedule: '* * * * *', timeZone: 'Europe/Berlin' };
  await applyBackup(kubectl, 'by-the-clock', { ...source, ...onVolume('clock'), backupPolicy });
}

async function wasMadeOnTheMinute({ kubectl, shelf }: Scene): Promise<void> {
  expect(await backedUp(kubectl, 'by-the-clock')).toMatchObject({ etcdVersion: version, Reason: '' });
  const times = async () => {
    const { lastScheduleTime, nextScheduleTime } = await statusOf(kubectl, 'by-the-clock');
    return lastScheduleTime && nextScheduleTime ? { lastScheduleTime, nextScheduleTime } : undefined;
  };
  const { lastScheduleTime, nextScheduleTime } = await until('the next time is in the status', times);
  for (const time of [lastScheduleTime, nextScheduleTime]) expect(new Date(time).getUTCSeconds(), time).toBe(0);
  expect(Date.parse(nextScheduleTime)).toBeGreaterThan(Date.parse(lastScheduleTime));
  expect(await shelf.snapshots('clock_v')).not.toEqual([]);
  await kubectl('delete etcdbackup by-the-clock');
}

async function byAge({ kubectl, shelf }: Scene, others: readonly string[]): Promise<void> {
  await policy(kubectl, 'often', { suspend: false, maxBackups: null, maxAgeInSecond: 1 });
  await left(shelf, others, 1);
  await suspended(kubectl, 'often');
  expect((await shelf.snapshots('db_v')).filter((key) => others.includes(key))).toEqual(others);
}

async function restored({ kubectl, db }: Scene): Promise<void> {
  const before = await everything(db);
  await write(db, 'bad');
  const { path } = (await statusOf(kubectl, 'often')).lastBackup;
  const pvc = { claimName: 'backups', path: path.replace('backups/', '') };
  const spec = { etcdCluster: { name: 'db' }, backupStorageType: 'PVC', pvc };
  await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'db', spec) });
  await waitFor(kubectl, 'etcdrestore/db', inSeconds(120, field('.status.succeeded', true)));
  await db.settled(3);
  expect(await everything(db)).toEqual(before);
}

story.asOnTheLab("what the original's own test of backups asks for holds on a volume", async (told) => {
  const { kubectl, step, namespace } = told;
  await installOperator(told);
  await kubectl('apply -f -', { input: claimManifest('backups') });
  const certificates = await withCertificates(kubectl, { name: 'db', namespace, size: 3, version });
  const db = declared(kubectl, 'db', { tls: await certificates.client() });
  const shelf = await shelfOn(kubectl, 'backups');
  await db.settled(3);
  const etcdEndpoints = (await db.podNames()).map((pod) => `https://${pod}.db.${namespace}.svc:2379`);
  const scene = { kubectl, shelf, db, source: { etcdEndpoints, clientTLSSecret: 'db-etcd-client' } };
  await step('once, from the URLs of all pods, behind certificates', () => once(scene));
  const others = await step('somebody else keeps backups under the same path', () => beside(scene));
  await byTheClock(scene);
  await step('again and again, packed: two of its own stay, as status and metrics tell', () => often(scene, others));
  await step('by age: its newest stays, and all of the others', () => byAge(scene, others));
  await step('one at a time of the clock is made on the minute', () => wasMadeOnTheMinute(scene));
  await step('a restore of the same name brings that one back', () => restored(scene));
});
