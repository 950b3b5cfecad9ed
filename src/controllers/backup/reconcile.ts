import type { ReadBackup } from '../../apis/common/backup-dialect.ts';
import type { BackupWorld } from '../../core/backup/model.ts';
import { type BackupVerdict, planBackup, stillLeaving } from '../../core/backup/plan.ts';
import { backupStatusOf } from '../../core/backup/status.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import {
  done,
  failed,
  type Outcome,
  requeueAfter,
  requeueAround,
  requeueAt,
  requeueOnStaleCache,
  waiting,
} from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure, unless } from '../../std/failure.ts';
import { agentForKey, agentNamespaceIndex } from '../shared/agent-namespace.ts';
import { refusalMessage, retryRejected } from '../shared/api-refusal.ts';
import type { ClusterObject } from '../shared/context.ts';
import { removeOldFinalizer } from '../shared/legacy-finalizer.ts';
import { publish, withStatus } from '../shared/status-writer.ts';
import { plainHttp, storeAccess } from '../shared/store-access.ts';
import type { BackupContext } from './context.ts';
import { agentPodsOf, type ObservedBackup, observeBackup } from './observe.ts';
import { savePod } from './save-pod.ts';

/** Seconds until the next pass. Secrets and time cause no watch events, so passes are timed. */
const seconds = { acted: 0.02, obstacle: 3, refused: 10, working: 2, agent: 30, longestWait: 600 } as const;

/** Runs one pass over one EtcdBackup: observe, plan, act, report. */
export function backupReconciler(context: BackupContext): Reconcile<string> {
  return retryRejected(async (key) => {
    const found = context.caches.backups.get(key);
    await removeOrphanedAgents(key, found?.metadata.uid, context);
    if (found === undefined) return done; // garbage collection deletes the Pods; stored objects stay
    if (await removeOldFinalizer(found, context)) return requeueAfter(seconds.acted);
    if (found.metadata.deletionTimestamp !== undefined || !context.isOurs(found.metadata)) return done;
    return context.caughtUp(key) ? visit(withStatus(found, context), context) : requeueOnStaleCache;
  }, context);
}

async function visit(object: Stored<ClusterObject>, context: BackupContext): Promise<Outcome> {
  const read = context.dialect.read(object);
  if (!read.ok)
    return refuse(object, read.problems.map(({ path, message }) => `${path}: ${message}`).join('; '), context);
  const problem = problemWith(read.value);
  return problem === undefined ? pass(object, read.value, context) : refuse(object, problem, context);
}

async function pass(object: Stored<ClusterObject>, read: ReadBackup, context: BackupContext): Promise<Outcome> {
  const observed = await observeBackup(read, context);
  const verdict = planBackup(observed.world);
  const refusal =
    verdict.is === 'start'
      ? await refusalMessage(start(object, { read, observed, slot: verdict.slot }, context))
      : undefined;
  await reportPass(object, { verdict, read, refusal }, context);
  if (verdict.is === 'discard') await discard(verdict, read, context);
  return refusal === undefined ? nextVisit(verdict, observed.world) : waiting('refused', seconds.refused);
}

interface Pass {
  readonly verdict: BackupVerdict;
  readonly read: ReadBackup;
  /** Why the API server refused the pod of the run. */
  readonly refusal: string | undefined;
}

async function reportPass(
  object: Stored<ClusterObject>,
  { verdict, read, refusal }: Pass,
  context: BackupContext,
): Promise<void> {
  const status = backupStatusOf(verdict, read.intent, refusal);
  if (status !== undefined) {
    const { generation } = object.metadata;
    const written = context.dialect.writeStatus({ status, generation, now: context.now() }, object.status);
    await publish(object, written, context);
  }
  if (verdict.is === 'conclude') reportEnd(object, verdict, context);
  if (status?.obstacle !== undefined)
    context.recordEvent(object, { type: 'Warning', reason: 'BackupBlocked', message: status.obstacle });
}

/** Why the store location is invalid; undefined if it is valid. */
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

/** The status of a finished backup stays, even if its spec becomes invalid. */
async function refuse(object: Stored<ClusterObject>, problems: string, context: BackupContext): Promise<Outcome> {
  if (context.dialect.isOver(object)) return done;
  context.recordEvent(object, { type: 'Warning', reason: 'BadSpec', message: problems });
  await publish(object, context.dialect.writeProblems(problems, object.status, context.now()), context);
  return done; // a corrected spec is a watch event
}

interface Starting {
  readonly read: ReadBackup;
  readonly observed: ObservedBackup;
  readonly slot: number;
}

async function start(object: Stored<ClusterObject>, run: Starting, context: BackupContext): Promise<void> {
  const { image } = context;
  if (typeof image === 'string') return;
  const wanted = savePod({ ...run, image }, context);
  await context
    .writer(keyOf(object.metadata))
    .create(pods, wanted as never)
    .catch((thrown: unknown) => {
      if (!isAlreadyExists(thrown)) throw thrown; // created by another operator, or by this one before it was killed
    });
  context.log('info', 'starting backup', { backup: keyOf(object.metadata), pod: wanted.metadata.name });
  for (const event of context.dialect.eventsOfStart(wanted.metadata.name)) context.recordEvent(object, event);
  if (storeAccess(run.read.intent.store, 'to-write').isPlain) context.recordEvent(object, plainHttp);
}

function reportEnd(
  object: Stored<ClusterObject>,
  { report }: BackupVerdict & { is: 'conclude' },
  context: BackupContext,
): void {
  const { ok, message } = report;
  context.log(ok ? 'info' : 'warn', 'backup ended', { backup: keyOf(object.metadata), ok, detail: message });
  for (const event of context.dialect.eventsOfEnd(report)) context.recordEvent(object, event);
}

async function discard(
  { agent: { uid }, why }: BackupVerdict & { readonly is: 'discard' },
  { intent }: ReadBackup,
  context: BackupContext,
): Promise<void> {
  if (why !== undefined) context.log('warn', 'restarting backup', { backup: keyOf(intent), detail: why });
  const discarded = agentPodsOf(intent, context).filter((pod) => pod.metadata.uid === uid);
  await removePods(discarded, keyOf(intent), context);
}

/** Deletes agent Pods in the operator's namespace whose EtcdBackup is gone: ownerReferences do not cross namespaces. */
async function removeOrphanedAgents(key: string, uid: string | undefined, context: BackupContext): Promise<void> {
  const label = agentForKey(context.dialect.group);
  const agents = context.caches.agents.by(agentNamespaceIndex, context.operators.namespace, key);
  const orphans = agents.filter(({ metadata: { labels, deletionTimestamp } }) => {
    return labels?.[label] !== uid && deletionTimestamp === undefined;
  });
  await removePods(orphans, key, context);
}

async function removePods(agents: readonly Stored<Pod>[], key: string, context: BackupContext): Promise<void> {
  const writer = context.writer(key);
  for (const { metadata } of agents) {
    const { namespace, name, uid } = metadata;
    await unless('not-found', writer.remove(pods, { namespace, name }, { preconditions: { uid } }), undefined);
  }
}

/** Seconds until the next look at an agent: soon if it runs, because its progress is reported. */
const secondsUntilAgentCheck = ({ agents }: BackupWorld): number =>
  agents.some(({ state }) => state.is === 'running') ? seconds.working : seconds.agent;

/** Passes are frequent while a Pod terminates: the next run must know how long the Pod has been terminating. */
const longestWait = (world: BackupWorld): number =>
  stillLeaving(world) === undefined ? seconds.longestWait : seconds.agent;

function nextVisit(verdict: BackupVerdict, world: BackupWorld): Outcome {
  switch (verdict.is) {
    case 'start':
    case 'conclude':
    case 'discard':
      return requeueAfter(seconds.acted);
    case 'wait':
      if (verdict.for === 'time') return requeueAt(verdict.until, world.now, longestWait(world));
      return verdict.for === 'agent'
        ? requeueAround(secondsUntilAgentCheck(world))
        : waiting('obstacle', seconds.obstacle);
    case 'paused':
    case 'finished':
      return done;
    default:
      return failed(verdict satisfies never);
  }
}
