import type { BackupWorld } from '../../core/model/backup.ts';
import { type BackupVerdict, planBackup, stillLeaving } from '../../core/plan/backup/plan-backup.ts';
import { backupStatusOf } from '../../core/status/backup-status.ts';
import type { ReadBackup } from '../../dialects/backup-dialect.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import { again, around, done, failed, notYet, type Outcome, visitAt, waiting } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure, unless } from '../../std/failure.ts';
import { awayIndex, awayMark } from '../agents/away.ts';
import { withoutOldFinalizer } from '../agents/old-finalizer.ts';
import { askingAgain, refusalBy } from '../agents/refused.ts';
import { plainHttp, storeAccess } from '../agents/store-access.ts';
import { publish, withStatus } from '../cluster/publish.ts';
import type { ClusterObject } from '../cluster/sources.ts';
import { agentPodsOf, type ObservedBackup, observeBackup } from './observe.ts';
import { savePod } from './save-pod.ts';
import type { BackupTools } from './sources.ts';

/** How soon to look again at what nobody tells us of: Secrets are not watched, and time passes by itself. */
const seconds = { acted: 0.02, obstacle: 3, refused: 10, working: 2, agent: 30, longestWait: 600 } as const;

/** One pass over one backup: observe, plan, act, tell. */
export function backupReconciler(tools: BackupTools): Reconcile<string> {
  return askingAgain(async (key) => {
    const found = tools.caches.backups.get(key);
    await removeAbandoned(key, found?.metadata.uid, tools);
    if (found === undefined) return done; // owner references clean up; what was stored stays
    if (!(await withoutOldFinalizer(found, tools))) return again(seconds.acted);
    if (found.metadata.deletionTimestamp !== undefined || !tools.isOurs(found.metadata)) return done;
    return tools.caughtUp(key) ? visit(withStatus(found, tools), tools) : notYet(seconds.acted);
  }, tools);
}

async function visit(object: Stored<ClusterObject>, tools: BackupTools): Promise<Outcome> {
  const read = tools.dialect.read(object);
  if (!read.ok) return refuse(object, read.problems.map(({ path, says }) => `${path}: ${says}`).join('; '), tools);
  const problem = problemWith(read.value);
  return problem === undefined ? pass(object, read.value, tools) : refuse(object, problem, tools);
}

async function pass(object: Stored<ClusterObject>, read: ReadBackup, tools: BackupTools): Promise<Outcome> {
  const observed = await observeBackup(read, tools);
  const planned = planBackup(observed.world);
  const refusal =
    planned.is === 'start' ? await refusalBy(start(object, { read, observed, slot: planned.slot }, tools)) : undefined;
  const verdict = refusal === undefined ? planned : ({ is: 'wait', for: 'obstacle', message: refusal } as const);
  await tell(object, { verdict, read }, tools);
  if (verdict.is === 'discard') await discard(verdict, read, tools);
  return refusal === undefined ? nextVisit(verdict, observed.world) : waiting('refused', seconds.refused);
}

interface Pass {
  readonly verdict: BackupVerdict;
  readonly read: ReadBackup;
}

async function tell(object: Stored<ClusterObject>, { verdict, read }: Pass, tools: BackupTools): Promise<void> {
  const status = backupStatusOf(verdict, read.intent);
  if (status !== undefined) {
    const { generation } = object.metadata;
    const written = tools.dialect.writeStatus({ status, generation, now: tools.now() }, object.status);
    await publish(object, written, tools);
  }
  if (verdict.is === 'conclude') tellEnd(object, verdict, tools);
  if (verdict.is === 'wait' && verdict.for === 'obstacle')
    tools.tell(object, { type: 'Warning', reason: 'BackupBlocked', message: verdict.message });
}

/** What only those who open stores can judge. */
function problemWith({ intent }: ReadBackup): string | undefined {
  try {
    storeAccess(intent.store, 'to-write');
    return undefined;
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    if (kind !== 'rejected') throw thrown;
    return message;
  }
}

/** What has ended stays as it was told, whatever becomes of its spec. */
async function refuse(object: Stored<ClusterObject>, problems: string, tools: BackupTools): Promise<Outcome> {
  if (tools.dialect.isOver(object)) return done;
  tools.tell(object, { type: 'Warning', reason: 'BadSpec', message: problems });
  await publish(object, tools.dialect.writeProblems(problems, object.status, tools.now()), tools);
  return done; // until somebody corrects it, and then there is an event
}

interface Starting {
  readonly read: ReadBackup;
  readonly observed: ObservedBackup;
  readonly slot: number;
}

async function start(object: Stored<ClusterObject>, run: Starting, tools: BackupTools): Promise<void> {
  const { image } = tools;
  if (typeof image === 'string') return;
  const wanted = savePod({ ...run, image }, tools);
  await tools
    .writer(keyOf(object.metadata))
    .create(pods, wanted as never)
    .catch((thrown: unknown) => {
      if (!isAlreadyExists(thrown)) throw thrown; // another operator, or we before we were killed
    });
  tools.log('info', 'a backup begins', { backup: keyOf(object.metadata), pod: wanted.metadata.name });
  for (const news of tools.dialect.tellStart(wanted.metadata.name)) tools.tell(object, news);
  if (storeAccess(run.read.intent.store, 'to-write').isPlain) tools.tell(object, plainHttp);
}

function tellEnd(
  object: Stored<ClusterObject>,
  { report }: BackupVerdict & { is: 'conclude' },
  tools: BackupTools,
): void {
  const { ok, message } = report;
  tools.log(ok ? 'info' : 'warn', 'a backup has ended', { backup: keyOf(object.metadata), ok, detail: message });
  for (const news of tools.dialect.tellEnd(report)) tools.tell(object, news);
}

async function discard(
  { agent: { uid }, why }: BackupVerdict & { readonly is: 'discard' },
  { intent }: ReadBackup,
  tools: BackupTools,
): Promise<void> {
  if (why !== undefined) tools.log('warn', 'a backup begins again', { backup: keyOf(intent), detail: why });
  const those = agentPodsOf(intent, tools).filter((pod) => pod.metadata.uid === uid);
  await removePods(those, keyOf(intent), tools);
}

/** Agents away from their resource are owned by nobody, so when it goes, they are removed here. */
async function removeAbandoned(key: string, uid: string | undefined, tools: BackupTools): Promise<void> {
  const label = awayMark(tools.dialect.group);
  const away = tools.caches.agents.by(awayIndex, tools.operators.namespace, key);
  const abandoned = away.filter(({ metadata: { labels, deletionTimestamp } }) => {
    return labels?.[label] !== uid && deletionTimestamp === undefined;
  });
  await removePods(abandoned, key, tools);
}

async function removePods(those: readonly Stored<Pod>[], key: string, tools: BackupTools): Promise<void> {
  const writer = tools.writer(key);
  for (const { metadata } of those) {
    const { namespace, name, uid } = metadata;
    await unless('not-found', writer.remove(pods, { namespace, name }, { preconditions: { uid } }), undefined);
  }
}

/** Whoever works is asked again soon how far it is: a moment after its start it does not say. */
const untilAsked = ({ agents }: BackupWorld): number =>
  agents.some(({ state }) => state.is === 'running') ? seconds.working : seconds.agent;

/** A terminating pod is seen often enough to know, when the next run is due, how long it has been terminating. */
const longestWait = (world: BackupWorld): number =>
  stillLeaving(world) === undefined ? seconds.longestWait : seconds.agent;

function nextVisit(verdict: BackupVerdict, world: BackupWorld): Outcome {
  switch (verdict.is) {
    case 'start':
    case 'conclude':
    case 'discard':
      return again(seconds.acted);
    case 'wait':
      if (verdict.for === 'time') return visitAt(verdict.until, world.now, longestWait(world));
      return verdict.for === 'agent' ? around(untilAsked(world)) : waiting('obstacle', seconds.obstacle);
    case 'paused':
    case 'finished':
      return done;
    default:
      return failed(verdict satisfies never);
  }
}
