import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ReadSchedule } from '../../apis/common/schedule-dialect.ts';
import type { ScheduledBackup, ScheduleWorld } from '../../core/schedule/model.ts';
import { lastBegun, planSchedule, type ScheduleVerdict } from '../../core/schedule/plan.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { keyOf, type Stored } from '../../kube/object.ts';
import { isUnique } from '../../objectstore/template.ts';
import { done, type Outcome, requeueAfter, requeueAt, requeueOnStaleCache, waiting } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure, unless } from '../../std/failure.ts';
import { refusalMessage, retryRejected } from '../shared/api-refusal.ts';
import { type ClusterObject, ownerIndex } from '../shared/context.ts';
import { removeOldFinalizer } from '../shared/legacy-finalizer.ts';
import { publish, withStatus } from '../shared/status-writer.ts';
import { addressOf } from '../shared/store-access.ts';
import type { ScheduleContext } from './context.ts';

/** Seconds until the next pass. Waits are limited because clocks are set forward and back. */
const seconds = { acted: 0.02, refused: 10, blocked: 12, longestWait: 300 } as const;

/** Runs one pass over one EtcdBackupSchedule: observe, plan, act, report. */
export function scheduleReconciler(context: ScheduleContext): Reconcile<string> {
  return retryRejected(async (key) => {
    const found = context.caches.schedules.get(key);
    if (found === undefined) return done; // garbage collection deletes its EtcdBackups; stored objects stay
    if (await removeOldFinalizer(found, context)) return requeueAfter(seconds.acted);
    if (found.metadata.deletionTimestamp !== undefined || !context.isOurs(found.metadata)) return done;
    return context.caughtUp(key) ? visit(withStatus(found, context), context) : requeueOnStaleCache;
  }, context);
}

async function visit(object: Stored<ClusterObject>, context: ScheduleContext): Promise<Outcome> {
  const read = context.dialect.read(object);
  if (!read.ok)
    return refuse(object, read.problems.map(({ path, message }) => `${path}: ${message}`).join('; '), context);
  const problem = problemWith(read.value);
  return problem === undefined ? pass(object, read.value, context) : refuse(object, problem, context);
}

async function pass(object: Stored<ClusterObject>, read: ReadSchedule, context: ScheduleContext): Promise<Outcome> {
  const world = worldOf(read, context);
  const planned = planSchedule(world);
  const refusal =
    planned.is === 'start' ? await refusalMessage(start(object, read, { slot: planned.slot, context })) : undefined;
  const verdict = refusal === undefined ? planned : ({ is: 'refused', message: refusal } as const);
  if (refusal !== undefined)
    context.recordEvent(object, { type: 'Warning', reason: 'BackupBlocked', message: refusal });
  if (verdict.is === 'forget') await deleteBackups(verdict.backups, read, context);
  const { generation } = object.metadata;
  const status = context.dialect.writeStatus({ verdict, world, generation, now: context.now() }, object.status);
  await publish(object, status, context);
  // The old backup is deleted only after the status records that a new one is due.
  if (verdict.is === 'replace') await deleteBackups([verdict.backup], read, context);
  return nextVisit(verdict, world);
}

function worldOf(read: ReadSchedule, context: ScheduleContext): ScheduleWorld {
  const { intent } = read;
  const now = context.now().getTime();
  const backups = context.caches.backups
    .by(ownerIndex, intent.namespace, intent.uid)
    .map((backup) => scheduled(backup, read, context));
  const made = backups.map(({ slot }) => slot);
  return { now, intent, lastSlot: lastBegun(now, read.lastSlot, made), backups };
}

function scheduled(
  backup: Stored<ClusterObject>,
  { backupSpec }: ReadSchedule,
  { dialect }: ScheduleContext,
): ScheduledBackup {
  const { name, uid, creationTimestamp, deletionTimestamp } = backup.metadata;
  const isTerminating = deletionTimestamp !== undefined;
  const isOutdated = !isDeepStrictEqual(backup.spec, backupSpec);
  const seen = dialect.readBackup(withStatus(backup, { dialect }));
  return { name, uid, createdAt: Date.parse(creationTimestamp), isTerminating, isOutdated, ...seen };
}

/** Why the URL template is invalid; undefined if it is valid. Checked here, before the first backup is created. */
function problemWith({ intent, objectUrl: { template, field } }: ReadSchedule): string | undefined {
  const values = { ...intent, creationTimestamp: '2026-01-01T00:00:00Z' };
  try {
    addressOf({ url: template, values, field });
    return undefined;
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    if (kind !== 'rejected') throw thrown;
    return message;
  }
}

async function refuse(object: Stored<ClusterObject>, problems: string, context: ScheduleContext): Promise<Outcome> {
  context.recordEvent(object, { type: 'Warning', reason: 'BadSpec', message: problems });
  await publish(object, context.dialect.writeProblems(problems, object.status, context.now()), context);
  return done; // a corrected spec is a watch event
}

interface Starting {
  readonly slot: number;
  readonly context: ScheduleContext;
}

async function start(object: Stored<ClusterObject>, read: ReadSchedule, { slot, context }: Starting): Promise<void> {
  const { intent, owner, backupSpec } = read;
  const { dialect, backups } = context;
  const name = backupName(intent, slot);
  const wanted = {
    apiVersion: `${backups.group}/${backups.version}`,
    kind: backups.kind,
    metadata: {
      name,
      namespace: intent.namespace,
      ownerReferences: [owner],
      labels: { [dialect.nameLabel]: intent.name },
      annotations: dialect.scheduledAtAnnotations(slot),
    },
    spec: backupSpec,
  };
  await context
    .writer(keyOf(object.metadata))
    .create(backups, wanted as never)
    .catch((thrown: unknown) => {
      if (!isAlreadyExists(thrown)) throw thrown; // created by another operator, or by this one before it was killed
    });
  context.log('info', 'starting scheduled backup', { schedule: keyOf(object.metadata), backup: name });
  context.recordEvent(object, {
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message: `Created ${backups.kind}: ${name}`,
  });
  if (!isUnique(read.objectUrl.template)) context.recordEvent(object, { ...oneObject, message: sameObject(read) });
}

const oneObject = { type: 'Warning', reason: 'OneObject' } as const;
const sameObject = ({ objectUrl: { field } }: ReadSchedule): string =>
  `${field}: is the same URL for each backup, so each backup overwrites the one before: add {{ .UID }} or {{ .CreationTimestamp }}`;

/** The name is derived from the schedule and the time, so that the same backup is not created twice. */
export function backupName({ name, uid }: { readonly name: string; readonly uid: string }, slot: number): string {
  return `${name}-${createHash('sha256').update(`${uid}/${slot}`).digest('hex').slice(0, 10)}`;
}

async function deleteBackups(
  backups: readonly ScheduledBackup[],
  { intent }: ReadSchedule,
  context: ScheduleContext,
): Promise<void> {
  const { namespace } = intent;
  const writer = context.writer(keyOf(intent));
  for (const { name, uid } of backups)
    await unless(
      'not-found',
      writer.remove(context.backups, { namespace, name }, { preconditions: { uid } }),
      undefined,
    );
}

const verdictsWithSteps: ReadonlySet<ScheduleVerdict['is']> = new Set(['start', 'forget', 'replace']);

function nextVisit(verdict: ScheduleVerdict, { now, backups }: ScheduleWorld): Outcome {
  if (verdictsWithSteps.has(verdict.is)) return requeueAfter(seconds.acted);
  if (verdict.is === 'refused') return waiting('refused', seconds.refused);
  // A change of the schedule or of its backups is a watch event.
  if (verdict.is !== 'wait' || verdict.for !== 'time') return done;
  const longest = backups.some(({ isBlocked }) => isBlocked === true) ? seconds.blocked : seconds.longestWait;
  return requeueAt(verdict.until, now, longest);
}
