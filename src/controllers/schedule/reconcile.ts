import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ScheduledBackup, ScheduleWorld } from '../../core/model/schedule.ts';
import { lastBegun, planSchedule, type ScheduleVerdict } from '../../core/plan/schedule/plan-schedule.ts';
import type { ReadSchedule } from '../../dialects/schedule-dialect.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { keyOf, type Stored } from '../../kube/object.ts';
import { again, done, notYet, type Outcome, visitAt, waiting } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure, unless } from '../../std/failure.ts';
import { isUnique } from '../../storage/template.ts';
import { withoutOldFinalizer } from '../agents/old-finalizer.ts';
import { askingAgain, refusalBy } from '../agents/refused.ts';
import { addressOf } from '../agents/store-access.ts';
import { publish, withStatus } from '../cluster/publish.ts';
import { type ClusterObject, ownerIndex } from '../cluster/sources.ts';
import type { ScheduleTools } from './sources.ts';

/** Time is nothing that can be watched; and clocks are put forward and back. */
const seconds = { acted: 0.02, refused: 10, blocked: 12, longestWait: 300 } as const;

/** One pass over one schedule: observe, plan, act, tell. */
export function scheduleReconciler(tools: ScheduleTools): Reconcile<string> {
  return askingAgain(async (key) => {
    const found = tools.caches.schedules.get(key);
    if (found === undefined) return done; // owner references take its backups along; what was stored stays
    if (!(await withoutOldFinalizer(found, tools))) return again(seconds.acted);
    if (found.metadata.deletionTimestamp !== undefined || !tools.isOurs(found.metadata)) return done;
    return tools.caughtUp(key) ? visit(withStatus(found, tools), tools) : notYet(seconds.acted);
  }, tools);
}

async function visit(object: Stored<ClusterObject>, tools: ScheduleTools): Promise<Outcome> {
  const read = tools.dialect.read(object);
  if (!read.ok) return refuse(object, read.problems.map(({ path, says }) => `${path}: ${says}`).join('; '), tools);
  const problem = problemWith(read.value);
  return problem === undefined ? pass(object, read.value, tools) : refuse(object, problem, tools);
}

async function pass(object: Stored<ClusterObject>, read: ReadSchedule, tools: ScheduleTools): Promise<Outcome> {
  const world = worldOf(read, tools);
  const planned = planSchedule(world);
  const refusal =
    planned.is === 'start' ? await refusalBy(start(object, read, { slot: planned.slot, tools })) : undefined;
  const verdict = refusal === undefined ? planned : ({ is: 'refused', message: refusal } as const);
  if (refusal !== undefined) tools.tell(object, { type: 'Warning', reason: 'BackupBlocked', message: refusal });
  if (verdict.is === 'forget') await forget(verdict.backups, read, tools);
  const { generation } = object.metadata;
  const status = tools.dialect.writeStatus({ verdict, world, generation, now: tools.now() }, object.status);
  await publish(object, status, tools);
  if (verdict.is === 'replace') await forget([verdict.backup], read, tools); // after it was written down that it is to be made again
  return nextVisit(verdict, world);
}

function worldOf(read: ReadSchedule, tools: ScheduleTools): ScheduleWorld {
  const { intent } = read;
  const now = tools.now().getTime();
  const backups = tools.caches.backups
    .by(ownerIndex, intent.namespace, intent.uid)
    .map((backup) => scheduled(backup, read, tools));
  const made = backups.map(({ slot }) => slot);
  return { now, intent, lastSlot: lastBegun(now, read.lastSlot, made), backups };
}

function scheduled(
  backup: Stored<ClusterObject>,
  { backupSpec }: ReadSchedule,
  { dialect }: ScheduleTools,
): ScheduledBackup {
  const { name, uid, creationTimestamp, deletionTimestamp } = backup.metadata;
  const isGoing = deletionTimestamp !== undefined;
  const isOutdated = !isDeepStrictEqual(backup.spec, backupSpec);
  const seen = dialect.readBackup(withStatus(backup, { dialect }));
  return { name, uid, createdAt: Date.parse(creationTimestamp), isGoing, isOutdated, ...seen };
}

/** What only those who open stores can judge, and better before the first backup than in each of them. */
function problemWith({ intent, objectUrl: { template, field } }: ReadSchedule): string | undefined {
  const words = { ...intent, creationTimestamp: '2026-01-01T00:00:00Z' };
  try {
    addressOf({ url: template, words, field });
    return undefined;
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    if (kind !== 'rejected') throw thrown;
    return message;
  }
}

async function refuse(object: Stored<ClusterObject>, problems: string, tools: ScheduleTools): Promise<Outcome> {
  tools.tell(object, { type: 'Warning', reason: 'BadSpec', message: problems });
  await publish(object, tools.dialect.writeProblems(problems, object.status, tools.now()), tools);
  return done; // until somebody corrects it, and then there is an event
}

interface Starting {
  readonly slot: number;
  readonly tools: ScheduleTools;
}

async function start(object: Stored<ClusterObject>, read: ReadSchedule, { slot, tools }: Starting): Promise<void> {
  const { intent, owner, backupSpec } = read;
  const { dialect, backups } = tools;
  const name = backupName(intent, slot);
  const wanted = {
    apiVersion: `${backups.group}/${backups.version}`,
    kind: backups.kind,
    metadata: {
      ...{ name, namespace: intent.namespace, ownerReferences: [owner] },
      labels: { [dialect.nameLabel]: intent.name },
      annotations: dialect.slotMark(slot),
    },
    spec: backupSpec,
  };
  await tools
    .writer(keyOf(object.metadata))
    .create(backups, wanted as never)
    .catch((thrown: unknown) => {
      if (!isAlreadyExists(thrown)) throw thrown; // another operator, or we before we were killed
    });
  tools.log('info', 'a scheduled backup begins', { schedule: keyOf(object.metadata), backup: name });
  tools.tell(object, { type: 'Normal', reason: 'SuccessfulCreate', message: `Created ${backups.kind}: ${name}` });
  if (!isUnique(read.objectUrl.template)) tools.tell(object, { ...oneObject, message: sameObject(read) });
}

const oneObject = { type: 'Warning', reason: 'OneObject' } as const;
const sameObject = ({ objectUrl: { field } }: ReadSchedule): string =>
  `${field}: is the same for each backup, so that there is never more than one: add {{ .UID }} or {{ .CreationTimestamp }}`;

/** It follows from the schedule and the time, so that nobody makes the same backup twice. */
export function backupName({ name, uid }: { readonly name: string; readonly uid: string }, slot: number): string {
  return `${name}-${createHash('sha256').update(`${uid}/${slot}`).digest('hex').slice(0, 10)}`;
}

async function forget(
  those: readonly ScheduledBackup[],
  { intent }: ReadSchedule,
  tools: ScheduleTools,
): Promise<void> {
  const { namespace } = intent;
  const writer = tools.writer(keyOf(intent));
  for (const { name, uid } of those)
    await unless('not-found', writer.remove(tools.backups, { namespace, name }, { preconditions: { uid } }), undefined);
}

const changes: ReadonlySet<ScheduleVerdict['is']> = new Set(['start', 'forget', 'replace']);

function nextVisit(verdict: ScheduleVerdict, { now, backups }: ScheduleWorld): Outcome {
  if (changes.has(verdict.is)) return again(seconds.acted);
  if (verdict.is === 'refused') return waiting('refused', seconds.refused);
  if (verdict.is !== 'wait' || verdict.for !== 'time') return done; // a change of the schedule or of its backups is an event
  const longest = backups.some(({ isBlocked }) => isBlocked === true) ? seconds.blocked : seconds.longestWait;
  return visitAt(verdict.until, now, longest);
}
