import { expect } from 'vitest';
import { list, namesOf, read } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { metricOf } from '../support/metrics.ts';
import { example, installFor, scaleOperator } from '../support/operator.ts';
import { everything, write } from '../support/restored.ts';
import { type Shelf, shelfOn } from '../support/shelf.ts';
import { type Story, story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const backups = 'etcdbackups.etcd.improbable.io';
const restores = 'etcdrestores.etcd.improbable.io';
const schedules = 'etcdbackupschedules.etcd.improbable.io';
const name = 'my-etcd-nightly';
/** Resources of the schedule's backups. */
const made = `${backups} -l etcd.improbable.io/backup-schedule-name=${name}`;
const everySeconds = 6;
/** Half of it is time enough for a busy operator to see that a schedule is no longer suspended. */
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

/** Waits until the status has a time, of another run than the one before. */
const timed = (kubectl: Kubectl, which: keyof Seen['status'], before?: string): Promise<string> =>
  until(`another ${which}`, async () => {
    const time = (await scheduleIn(kubectl)).status[which];
    return time === before ? undefined : time;
  });

/** Waits until the last due time is longer ago than the deadline, with half a period or more until the next. Returns that time. */
async function betweenRuns(kubectl: Kubectl): Promise<number> {
  const since = Date.parse((await scheduleIn(kubectl)).metadata.creationTimestamp);
  const periods = (): number => (Date.now() - since) / 1000 / seldomSeconds;
  const past = (): number => (periods() % 1) * seldomSeconds;
  await until('between two times', async () => (past() > 1.5 && past() < seldomSeconds / 2) || undefined);
  return since + Math.floor(periods()) * seldomSeconds * 1000;
}

async function hasItsTimes({ kubectl }: Story): Promise<void> {
  const next = new Date(await timed(kubectl, 'nextScheduleTime'));
  expect(next.toLocaleTimeString('de-DE', { timeZone: 'Europe/Berlin', timeStyle: 'short' })).toBe('02:30');
  expect(next.getTime() - Date.now()).toBeLessThan(25 * 3600 * 1000);
}

async function isSuspended({ kubectl }: Story): Promise<void> {
  const seldom = { schedule: `@every ${seldomSeconds}s`, timeZone: null, successfulBackupsHistoryLimit: 1 };
  await patched(kubectl, { ...seldom, suspend: true, startingDeadlineSeconds: 1 });
  await waitFor(kubectl, `${schedules}/${name}`, field('.status.conditions[0].reason', 'Suspended'));
  expect((await scheduleIn(kubectl)).status.nextScheduleTime).toBeUndefined();
  expect(await namesOf(kubectl, made)).toEqual([]);
}

/** The one that was due while it was suspended is too late for its deadline. */
async function leavesOut({ kubectl }: Story): Promise<void> {
  const due = await betweenRuns(kubectl);
  await patched(kubectl, { suspend: false });
  expect(Date.parse(await timed(kubectl, 'lastMissedTime'))).toBe(due);
  const { nextScheduleTime = '' } = (await scheduleIn(kubectl)).status;
  expect(Date.parse(nextScheduleTime)).toBeGreaterThan(due);
  await patched(kubectl, { schedule: `@every ${everySeconds}s`, startingDeadlineSeconds: null });
}

/** Whether the first that is begun after an outage is one that was due meanwhile. Whoever is slow to start finds the next one due. */
async function isMadeUpFor(told: Story): Promise<boolean> {
  const { kubectl } = told;
  await scaleOperator(told, 0);
  const { lastScheduleTime = '' } = (await scheduleIn(kubectl)).status;
  const due = Date.parse(lastScheduleTime) + everySeconds * 1000;
  await until('one is due', async () => Date.now() > due || undefined);
  const back = Date.now();
  await scaleOperator(told, 1);
  return Date.parse(await timed(kubectl, 'lastScheduleTime', lastScheduleTime)) < back;
}

async function goesOnAfterAnOutage(told: Story): Promise<void> {
  const { kubectl } = told;
  await timed(kubectl, 'lastSuccessfulTime');
  await until('one that was missed is made up for', async () => (await isMadeUpFor(told)) || undefined);
  const { lastScheduleTime = '' } = (await scheduleIn(kubectl)).status;
  await until('it has gone well', async () => {
    const { lastSuccessfulTime = '' } = (await scheduleIn(kubectl)).status;
    return Date.parse(lastSuccessfulTime) >= Date.parse(lastScheduleTime) || undefined;
  });
}

/** Of its resources, and of what is stored. */
async function keepsWhatItIsTold({ kubectl }: Story, shelf: Shelf): Promise<void> {
  await patched(kubectl, { suspend: true });
  await waitFor(kubectl, `${schedules}/${name}`, field('.status.conditions[0].reason', 'Suspended'));
  await until('one resource', async () => {
    const items = await list<{ status: { phase?: string } }>(kubectl, made);
    return (items.length === 1 && items[0]?.status.phase === 'Completed') || undefined;
  });
  await until('the metric says what the status says', async () => {
    const { lastSuccessfulTime = '' } = (await scheduleIn(kubectl)).status;
    const metric = 'etcd_operator_backup_schedule_last_success_timestamp_seconds';
    return (await metricOf(kubectl, metric, name)) === Date.parse(lastSuccessfulTime) / 1000 || undefined;
  });
  const stored = await shelf.snapshots('my-etcd/');
  expect(stored.length).toBeGreaterThanOrEqual(2);
  await kubectl(`delete ${schedules} ${name}`);
  await waitForDeletion(kubectl, made);
  expect(await shelf.snapshots('my-etcd/')).toEqual(stored);
}

story.asOnTheLab('the examples of backups in the API of the talk go to a volume, also over an outage', async (told) => {
  const { kubectl, step, namespace } = told;
  const [db, again] = [declaredIn(improbable)(kubectl, 'my-etcd'), declaredIn(improbable)(kubectl, 'my-etcd-again')];
  const apply = (file: string): Promise<string> =>
    kubectl('apply -f -', { input: example(file, namespace, improbable.name) });
  await installFor(improbable, told);
  await step('a backup is made', async () => {
    await apply('etcd-backup-schedule.yaml');
    await apply('my-etcd.yaml');
    await db.settled(3);
    await write(db, 'good');
    await apply('etcd-backup.yaml');
    await waitFor(kubectl, `${backups}/my-etcd-backup`, inSeconds(120, field('.status.phase', 'Completed')));
  });
  await step('a schedule says when it is due, by the clock of its place', () => hasItsTimes(told));
  await step('a cluster is made of the backup', async () => {
    await apply('etcd-restore.yaml');
    await waitFor(kubectl, `${restores}/my-etcd-again`, inSeconds(120, field('.status.phase', 'Completed')));
    await again.settled(3);
    expect(await everything(again)).toEqual(await everything(db));
  });
  const shelf = await shelfOn(kubectl, 'etcd-backups');
  await step('suspended, the schedule makes nothing', () => isSuspended(told));
  await step('what is too late for its deadline is left out, and told', () => leavesOut(told));
  await step('what was due while the operator was away is made up for', () => goesOnAfterAnOutage(told));
  await step('it keeps what it is told to, and deleted leaves what is stored', () => keepsWhatItIsTold(told, shelf));
});
