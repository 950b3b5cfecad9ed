import type { ReadRestore } from '../../apis/common/restore-dialect.ts';
import type { AgentFacts } from '../../core/backup/agent.ts';
import type { RestoreWorld } from '../../core/restore/model.ts';
import { blocked, type RestoreStep, type RestoreVerdict } from '../../core/restore/step.ts';
import { type KubeObject, keyOf, type Stored } from '../../kube/object.ts';
import { done, type Outcome, requeueOnStaleCache } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure } from '../../std/failure.ts';
import type { ClusterObject } from '../shared/context.ts';
import { publish, withStatus } from '../shared/status-writer.ts';
import { plainHttp, storeAccess } from '../shared/store-access.ts';
import { performRestore } from './act/perform.ts';
import { deleteStoreProxies } from './act/store-proxy.ts';
import { withCachedSecrets } from './cached-secrets.ts';
import type { RestoreContext } from './context.ts';
import { decide } from './decide.ts';
import { restoreFinalizer } from './finalizer.ts';
import { observeRestore } from './observe.ts';
import { replacingExisting } from './replace-existing.ts';
import { KindNotServed } from './target.ts';
import { nextRestoreVisit, recordWait, visitIfUnchanged } from './visit.ts';

/** Runs one pass over one EtcdRestore: observe, plan, act, report. */
export function restoreReconciler(context: RestoreContext): Reconcile<string> {
  return async (key) => {
    const found = context.caches.restores.get(key);
    if (found === undefined || isTerminating(found, context)) {
      await deleteStoreProxies(key, undefined, context);
      return done;
    }
    if (!context.isOurs(found.metadata)) return done;
    if (!context.caughtUp(key)) return requeueOnStaleCache;
    const object = withStatus(found, context);
    const read = context.dialect.read(object);
    if (!read.ok)
      return refuse(object, read.problems.map(({ path, message }) => `${path}: ${message}`).join('; '), context);
    return visit(object, read.value, context);
  };
}

async function visit(object: Stored<ClusterObject>, read: ReadRestore, context: RestoreContext): Promise<Outcome> {
  await deleteStoreProxies(keyOf(object.metadata), read, context);
  if (read.memory.phase === 'complete' && !isPinned(object, context)) return done;
  const problem = problemWith(read);
  if (problem !== undefined) return refuse(object, problem, context);
  return (await visitIfUnchanged(read, context)) ?? passIfServed(object, read, context);
}

/** Blocks the restore while the kind EtcdCluster is not served. A restore that has ended keeps its status. */
async function passIfServed(
  object: Stored<ClusterObject>,
  read: ReadRestore,
  context: RestoreContext,
): Promise<Outcome> {
  const { memory } = read;
  try {
    return await pass(object, await replacingExisting(read, context), context);
  } catch (thrown) {
    const hasEnded = memory.phase === 'complete' || memory.phase === 'failed';
    if (hasEnded || !(thrown instanceof KindNotServed)) throw thrown;
    const verdict = blocked(thrown.message);
    await publishStatus(object, { verdict, facts: {} }, context);
    return nextRestoreVisit(verdict, { memory, cluster: thrown.message });
  }
}

/** True if the restore is deleted and has no finalizer. With the finalizer, a deleted restore continues to its end. */
const isTerminating = ({ metadata }: Stored<ClusterObject>, context: RestoreContext): boolean =>
  metadata.deletionTimestamp !== undefined && !isPinned({ metadata }, context);

const isPinned = ({ metadata }: Pick<KubeObject, 'metadata'>, context: RestoreContext): boolean =>
  metadata.finalizers?.includes(restoreFinalizer(context)) === true;

async function pass(object: Stored<ClusterObject>, read: ReadRestore, context: RestoreContext): Promise<Outcome> {
  const observed = await observeRestore(object, read, withCachedSecrets(keyOf(object.metadata), context));
  const { world, target } = observed;
  const writer = context.writer(keyOf(object.metadata));
  const verdict = await decide(world, read, context).catch(asBlockedVerdict);
  if (verdict.is === 'over') return done;
  recordWait(verdict, observed, context);
  const facts = factsIn(world);
  const report = (): Promise<void> => publishStatus(object, { verdict, facts }, context);
  if (verdict.is !== 'act') {
    await report();
    return nextRestoreVisit(verdict, world);
  }
  const about = { restore: keyOf(object.metadata), step: verdict.step.kind, detail: verdict.message };
  context.log('debug', 'taking step', about);
  const blockedVerdict = await blockedVerdictOf(
    performRestore(verdict.step, { object, read, target, controller: context, writer }),
  );
  if (blockedVerdict !== undefined) {
    await publishStatus(object, { verdict: blockedVerdict, facts }, context);
    return nextRestoreVisit(blockedVerdict, world);
  }
  context.log('info', 'step taken', about);
  if (!changesRestore(verdict.step)) await report();
  if (verdict.step.kind === 'prove' && storeAccess(read.intent.store, 'to-read').isPlain)
    context.recordEvent(object, plainHttp);
  return nextRestoreVisit(verdict, world);
}

type BlockedVerdict = RestoreVerdict & { readonly is: 'wait' };

/**
 * Turns a refusal of the API server, for example by a quota or a missing ServiceAccount, into a verdict for the status.
 */
function asBlockedVerdict(thrown: unknown): BlockedVerdict {
  const { kind, message } = Failure.from(thrown);
  if (kind !== 'forbidden' && kind !== 'rejected') throw thrown;
  return { is: 'wait', isBlocked: true, message };
}

const blockedVerdictOf = (work: Promise<void>): Promise<BlockedVerdict | undefined> =>
  work.then(() => undefined, asBlockedVerdict);

/** After these steps the status is not written: the resourceVersion that was read is outdated. */
const changesRestore = ({ kind }: RestoreStep): boolean => kind === 'pin' || kind === 'unpin';

/**
 * Facts of the backup: from its inspection first, from the seed once it has verified the backup. Later phases keep
 * them.
 */
function factsIn({ memory: { phase }, proof, cluster }: RestoreWorld): AgentFacts {
  if (phase !== 'proving' && phase !== 'seeding') return {};
  const seen = proof?.state.is === 'ended' ? proof.state.report.facts : {};
  return (typeof cluster === 'string' ? undefined : cluster.seed?.facts) ?? seen;
}

interface Report {
  readonly verdict: RestoreVerdict;
  readonly facts: AgentFacts;
}

async function publishStatus(
  object: Stored<ClusterObject>,
  { verdict, facts }: Report,
  context: RestoreContext,
): Promise<void> {
  const { generation } = object.metadata;
  await publish(
    object,
    context.dialect.writeStatus({ verdict, facts, generation, now: context.now() }, object.status),
    context,
  );
  for (const event of eventsOf(verdict, facts)) context.recordEvent(object, event);
}

function eventsOf(verdict: RestoreVerdict, { warnings = [] }: AgentFacts): readonly RestoreEvent[] {
  if (verdict.is === 'wait' && verdict.isBlocked === true)
    return [{ type: 'Warning', reason: 'RestoreBlocked', message: verdict.message }];
  if (verdict.is !== 'enter') return [];
  const { phase, message } = verdict;
  if (phase === 'failed') return [{ type: 'Warning', reason: 'RestoreFailed', message }];
  return [
    { type: 'Normal', reason: phase === 'complete' ? 'Restored' : 'Restoring', message },
    ...warnings.map((warning): RestoreEvent => ({ type: 'Warning', reason: 'Restoring', message: warning })),
  ];
}

type RestoreEvent = Parameters<RestoreContext['recordEvent']>[1];

/** Why the store location is invalid; undefined if it is valid. */
function problemWith({ intent }: ReadRestore): string | undefined {
  try {
    storeAccess(intent.store, 'to-read');
    return undefined;
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    if (kind !== 'rejected') throw thrown;
    return message;
  }
}

async function refuse(object: Stored<ClusterObject>, problems: string, context: RestoreContext): Promise<Outcome> {
  context.recordEvent(object, { type: 'Warning', reason: 'BadSpec', message: problems });
  await publish(object, context.dialect.writeProblems(problems, object.status, context.now()), context);
  return done;
}
