import { expect } from 'vitest';
import { fieldOf, read } from '../support/api.ts';
import { type BackupVolume, openBackupVolume } from '../support/backup-volume.ts';
import { applyBackup, type BackupStatusSeen, backedUp, claimManifest, resourceOf } from '../support/backups.ts';
import { type DeclaredCluster, declared } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { metricOf } from '../support/metrics.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { allKeys, writeKeys } from '../support/test-keys.ts';
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

/** The snapshots besides `others`, oldest first. */
const ownSnapshots = async (backupVolume: BackupVolume, others: readonly string[]): Promise<readonly string[]> =>
  (await backupVolume.snapshots('db_v')).filter((key) => !others.includes(key));

/** Waits until this many snapshots besides `others` are left. */
const snapshotsLeft = (
  backupVolume: BackupVolume,
  others: readonly string[],
  count: number,
): Promise<readonly string[]> =>
  until(`${count} snapshots are left`, async () => {
    const own = await ownSnapshots(backupVolume, others);
    return own.length === count ? own : undefined;
  });

/** Checks the metrics for alerts. */
async function expectMetrics(kubectl: Kubectl, name: string): Promise<void> {
  const { lastSuccessDate = '', lastBackup } = await statusOf(kubectl, name);
  const metric = (suffix: string): Promise<number | undefined> =>
    metricOf(kubectl, `etcd_operator_backup_${suffix}`, name);
  expect(await metric('last_success_timestamp_seconds')).toBe(Date.parse(lastSuccessDate) / 1000);
  expect(await metric('size_bytes')).toBe(lastBackup.sizeBytes);
  expect(await metric('duration_seconds')).toBe(Number(lastBackup.durationSeconds));
  expect(await metric('failures')).toBe(0);
}

interface BackupSetup {
  readonly kubectl: Kubectl;
  readonly backupVolume: BackupVolume;
  readonly db: DeclaredCluster;
  /** The client URLs of all pods, and the Secret with the client certificate. */
  readonly source: object;
}

async function backUpOnce({ kubectl, backupVolume, source }: BackupSetup): Promise<void> {
  await applyBackup(kubectl, 'blind', { ...source, clientTLSSecret: 'nowhere', ...onVolume('blind.db') });
  await applyBackup(kubectl, 'once', { ...source, ...onVolume('once.db') });
  expect(await backedUp(kubectl, 'once')).toMatchObject({ etcdVersion: version, etcdRevision: 1, Reason: '' });
  await waitFor(kubectl, 'etcdbackup/blind', field('.status.conditions[0].reason', 'BackupBlocked'));
  expect(await fieldOf(kubectl, 'etcdbackup/blind', '.status.Reason')).toContain('Secret "nowhere" does not exist');
  expect(await backupVolume.snapshots()).toEqual(['once.db']);
}

/** Stores snapshots of others under the same path; returns their keys. */
async function storeForeignSnapshots({ kubectl, backupVolume, source, db }: BackupSetup): Promise<readonly string[]> {
  await backupVolume.put(foreign);
  const rarely = { ...source, ...onVolume('db'), backupPolicy: { backupIntervalInSecond: 3600 } };
  await applyBackup(kubectl, 'rarely', rarely);
  await backedUp(kubectl, 'rarely');
  await writeKeys(db, 'good');
  const others = await backupVolume.snapshots('db_v');
  expect(others).toHaveLength(2);
  return others;
}

async function backUpPeriodically(
  { kubectl, backupVolume, source }: BackupSetup,
  others: readonly string[],
): Promise<void> {
  const backupPolicy = { backupIntervalInSecond: 2, maxBackups: 2, compression: 'gzip' };
  await applyBackup(kubectl, 'often', { ...source, ...onVolume('db'), backupPolicy });
  const first = await until('a first snapshot', async () => (await ownSnapshots(backupVolume, others))[0]);
  await until(
    'the first snapshot is pruned',
    async () => !(await backupVolume.snapshots()).includes(first) || undefined,
  );
  await suspended(kubectl, 'often');
  const own = await snapshotsLeft(backupVolume, others, 2);
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
  await expectMetrics(kubectl, 'often');
}

/** Runs beside the other steps, because the schedule takes up to a minute. */
async function backUpBySchedule({ kubectl, source }: BackupSetup): Promise<void> {
  const backupPolicy = { schedule: '* * * * *', timeZone: 'Europe/Berlin' };
  await applyBackup(kubectl, 'by-the-clock', { ...source, ...onVolume('clock'), backupPolicy });
}

async function isMadeOnTheMinute({ kubectl, backupVolume }: BackupSetup): Promise<void> {
  expect(await backedUp(kubectl, 'by-the-clock')).toMatchObject({ etcdVersion: version, Reason: '' });
  const times = async () => {
    const { lastScheduleTime, nextScheduleTime } = await statusOf(kubectl, 'by-the-clock');
    return lastScheduleTime && nextScheduleTime ? { lastScheduleTime, nextScheduleTime } : undefined;
  };
  const { lastScheduleTime, nextScheduleTime } = await until('nextScheduleTime is in the status', times);
  for (const time of [lastScheduleTime, nextScheduleTime]) expect(new Date(time).getUTCSeconds(), time).toBe(0);
  expect(Date.parse(nextScheduleTime)).toBeGreaterThan(Date.parse(lastScheduleTime));
  expect(await backupVolume.snapshots('clock_v')).not.toEqual([]);
  await kubectl('delete etcdbackup by-the-clock');
}

async function pruneByAge({ kubectl, backupVolume }: BackupSetup, others: readonly string[]): Promise<void> {
  await policy(kubectl, 'often', { suspend: false, maxBackups: null, maxAgeInSecond: 1 });
  await snapshotsLeft(backupVolume, others, 1);
  await suspended(kubectl, 'often');
  expect((await backupVolume.snapshots('db_v')).filter((key) => others.includes(key))).toEqual(others);
}

async function restoreLatest({ kubectl, db }: BackupSetup): Promise<void> {
  const before = await allKeys(db);
  await writeKeys(db, 'bad');
  const { path } = (await statusOf(kubectl, 'often')).lastBackup;
  const pvc = { claimName: 'backups', path: path.replace('backups/', '') };
  const spec = { etcdCluster: { name: 'db' }, backupStorageType: 'PVC', pvc };
  await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'db', spec) });
  await waitFor(kubectl, 'etcdrestore/db', inSeconds(120, field('.status.succeeded', true)));
  await db.settled(3);
  expect(await allKeys(db)).toEqual(before);
}

story.asOnTheLab("the checks of the original's backup e2e test pass with backups on a PVC", async (context) => {
  const { kubectl, step, namespace } = context;
  await installOperator(context);
  await kubectl('apply -f -', { input: claimManifest('backups') });
  const certificates = await withCertificates(kubectl, { name: 'db', namespace, size: 3, version });
  const db = declared(kubectl, 'db', { tls: await certificates.client() });
  const backupVolume = await openBackupVolume(kubectl, 'backups');
  await db.settled(3);
  const etcdEndpoints = (await db.podNames()).map((pod) => `https://${pod}.db.${namespace}.svc:2379`);
  const setup = { kubectl, backupVolume, db, source: { etcdEndpoints, clientTLSSecret: 'db-etcd-client' } };
  await step('a single backup from the https URLs of all pods', () => backUpOnce(setup));
  const others = await step('foreign snapshots exist under the same path', () => storeForeignSnapshots(setup));
  await backUpBySchedule(setup);
  await step('a periodic backup with gzip keeps two of its snapshots, and reports status and metrics', () =>
    backUpPeriodically(setup, others),
  );
  await step('pruning by age keeps the newest snapshot and all foreign snapshots', () => pruneByAge(setup, others));
  await step('a backup with a cron schedule is made on the minute', () => isMadeOnTheMinute(setup));
  await step('a restore of the latest backup restores all keys', () => restoreLatest(setup));
});
