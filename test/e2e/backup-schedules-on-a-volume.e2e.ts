import { expect } from 'vitest';
import { list, namesOf, read } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { type BackupVolume, openBackupVolume } from '../support/backup-volume.ts';
import { declaredIn } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { metricOf } from '../support/metrics.ts';
import { example, installFor, scaleOperator } from '../support/operator.ts';
import { type StoryContext, story } from '../support/story.ts';
import { allKeys, writeKeys } from '../support/test-keys.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const backups = 'etcdbackups.etcd.improbable.io';
const restores = 'etcdrestores.etcd.improbable.io';
const schedules = 'etcdbackupschedules.etcd.improbable.io';
const name = 'my-etcd-nightly';
/** Selects the EtcdBackups of the schedule. */
const made = `${backups} -l etcd.improbable.io/backup-schedule-name=${name}`;
const everySeconds = 6;
/** Half of this period is enough for a busy operator to notice that a schedule is resumed. */
const seldomSeconds = 24;

interface Seen {
  readonly metadata: { readonly creationTimestamp: string };
  readonly status: {
    readonly lastScheduleTime?: string;
    readonly nextScheduleTime?: string;
    readonly lastSuccessfulTime?: string;
    readonly lastMissedTime?: string;
  };
}

const scheduleIn = (kubectl: Kubectl): Promise<Seen> => read<Seen>(kubectl, `${schedules}/${name}`);

const patched = (kubectl: Kubectl, spec: object): Promise<string> =>
  kubectl(`patch ${schedules} ${name} --type=merge -p '${JSON.stringify({ spec })}'`);

/** Waits until a time in the status differs from `before`. */
const newTime = (kubectl: Kubectl, which: keyof Seen['status'], before?: string): Promise<string> =>
  until(`another ${which}`, async () => {
    const time = (await scheduleIn(kubectl)).status[which];
    return time === before ? undefined : time;
  });

/** Waits until the last due time is longer ago than the deadline, with half a period or more until the next. Returns that time. */
async function betweenRuns(kubectl: Kubectl): Promise<number> {
  const since = Date.parse((await scheduleIn(kubectl)).metadata.creationTimestamp);
  const periods = (): number => (Date.now() - since) / 1000 / seldomSeconds;
  const past = (): number => (periods() % 1) * seldomSeconds;
  await until('the first half of a period', async () => (past() > 1.5 && past() < seldomSeconds / 2) || undefined);
  return since + Math.floor(periods()) * seldomSeconds * 1000;
}

async function hasNextTime({ kubectl }: StoryContext): Promise<void> {
  const next = new Date(await newTime(kubectl, 'nextScheduleTime'));
  expect(next.toLocaleTimeString('de-DE', { timeZone: 'Europe/Berlin', timeStyle: 'short' })).toBe('02:30');
  expect(next.getTime() - Date.now()).toBeLessThan(25 * 3600 * 1000);
}

async function isSuspended({ kubectl }: StoryContext): Promise<void> {
  const seldom = { schedule: `@every ${seldomSeconds}s`, timeZone: null, successfulBackupsHistoryLimit: 1 };
  await patched(kubectl, { ...seldom, suspend: true, startingDeadlineSeconds: 1 });
  await waitFor(kubectl, `${schedules}/${name}`, field('.status.conditions[0].reason', 'Suspended'));
  expect((await scheduleIn(kubectl)).status.nextScheduleTime).toBeUndefined();
  expect(await namesOf(kubectl, made)).toEqual([]);
}

/** A backup due while the schedule was suspended misses its deadline. */
async function skipsMissed({ kubectl }: StoryContext): Promise<void> {
  const due = await betweenRuns(kubectl);
  await patched(kubectl, { suspend: false });
  expect(Date.parse(await newTime(kubectl, 'lastMissedTime'))).toBe(due);
  const { nextScheduleTime = '' } = (await scheduleIn(kubectl)).status;
  expect(Date.parse(nextScheduleTime)).toBeGreaterThan(due);
  await patched(kubectl, { schedule: `@every ${everySeconds}s`, startingDeadlineSeconds: null });
}

/** True if the first backup after an outage was due during the outage. A slow operator starts with a later one. */
async function isCaughtUp(context: StoryContext): Promise<boolean> {
  const { kubectl } = context;
  await scaleOperator(context, 0);
  const { lastScheduleTime = '' } = (await scheduleIn(kubectl)).status;
  const due = Date.parse(lastScheduleTime) + everySeconds * 1000;
  await until('a backup is due', async () => Date.now() > due || undefined);
  const back = Date.now();
  await scaleOperator(context, 1);
  return Date.parse(await newTime(kubectl, 'lastScheduleTime', lastScheduleTime)) < back;
}

async function continuesAfterOutage(context: StoryContext): Promise<void> {
  const { kubectl } = context;
  await newTime(kubectl, 'lastSuccessfulTime');
  await until('a missed backup is made', async () => (await isCaughtUp(context)) || undefined);
  const { lastScheduleTime = '' } = (await scheduleIn(kubectl)).status;
  await until('the missed backup has succeeded', async () => {
    const { lastSuccessfulTime = '' } = (await scheduleIn(kubectl)).status;
    return Date.parse(lastSuccessfulTime) >= Date.parse(lastScheduleTime) || undefined;
  });
}

/** Checks the retention of EtcdBackups and of stored snapshots. */
async function appliesRetention({ kubectl }: StoryContext, backupVolume: BackupVolume): Promise<void> {
  await patched(kubectl, { suspend: true });
  await waitFor(kubectl, `${schedules}/${name}`, field('.status.conditions[0].reason', 'Suspended'));
  await until('one EtcdBackup is left', async () => {
    const items = await list<{ status: { phase?: string } }>(kubectl, made);
    return (items.length === 1 && items[0]?.status.phase === 'Completed') || undefined;
  });
  await until('the metric equals the status', async () => {
    const { lastSuccessfulTime = '' } = (await scheduleIn(kubectl)).status;
    const metric = 'etcd_operator_backup_schedule_last_success_timestamp_seconds';
    return (await metricOf(kubectl, metric, name)) === Date.parse(lastSuccessfulTime) / 1000 || undefined;
  });
  const stored = await backupVolume.snapshots('my-etcd/');
  expect(stored.length).toBeGreaterThanOrEqual(2);
  await kubectl(`delete ${schedules} ${name}`);
  await waitForDeletion(kubectl, made);
  expect(await backupVolume.snapshots('my-etcd/')).toEqual(stored);
}

story.asOnTheLab('the example backup, schedule and restore of the improbable API work with a PVC', async (context) => {
  const { kubectl, step, namespace } = context;
  const [db, again] = [declaredIn(improbable)(kubectl, 'my-etcd'), declaredIn(improbable)(kubectl, 'my-etcd-again')];
  const apply = (file: string): Promise<string> =>
    kubectl('apply -f -', { input: example(file, namespace, improbable.name) });
  await installFor(improbable, context);
  await step('the example backup completes', async () => {
    await apply('etcd-backup-schedule.yaml');
    await apply('my-etcd.yaml');
    await db.settled(3);
    await writeKeys(db, 'good');
    await apply('etcd-backup.yaml');
    await waitFor(kubectl, `${backups}/my-etcd-backup`, inSeconds(120, field('.status.phase', 'Completed')));
  });
  await step('the status of the schedule has the next time in its time zone', () => hasNextTime(context));
  await step('the example restore creates a cluster from the backup', async () => {
    await apply('etcd-restore.yaml');
    await waitFor(kubectl, `${restores}/my-etcd-again`, inSeconds(120, field('.status.phase', 'Completed')));
    await again.settled(3);
    expect(await allKeys(again)).toEqual(await allKeys(db));
  });
  const backupVolume = await openBackupVolume(kubectl, 'etcd-backups');
  await step('a suspended schedule makes no backup', () => isSuspended(context));
  await step('a backup that misses its deadline is skipped, and the status has its time', () => skipsMissed(context));
  await step('a backup due during an outage of the operator is made afterwards', () => continuesAfterOutage(context));
  await step('the schedule applies its retention; after its deletion the stored snapshots stay', () =>
    appliesRetention(context, backupVolume),
  );
});
