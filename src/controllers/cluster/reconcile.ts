import type { EventContent, ReadCluster } from '../../apis/common/dialect.ts';
import { warningsOfScope } from '../../apis/common/warnings.ts';
import { planCluster } from '../../core/cluster/plan/plan-cluster.ts';
import { needsClientEndpoints } from '../../core/cluster/plan/roll/leave-client-service.ts';
import type { Verdict } from '../../core/cluster/plan/step.ts';
import { needsHidden } from '../../core/cluster/plan/wait/wait-for-contact.ts';
import { statusOf } from '../../core/cluster/status/cluster-status.ts';
import { delayed } from '../../core/cluster/status/delay.ts';
import { withPlaintext } from '../../core/cluster/status/plaintext.ts';
import { keyOf, type Stored } from '../../kube/object.ts';
import { done, failed, type Outcome, requeueOnStaleCache } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure } from '../../std/failure.ts';
import type { ClusterObject, ControllerContext } from '../shared/context.ts';
import { publish, withStatus } from '../shared/status-writer.ts';
import { act, type Decided } from './act/act.ts';
import { DoneUpkeep } from './act/freshness.ts';
import { releasePeers } from './act/release-peers.ts';
import { observeClientEndpoints } from './ensure/client-endpoints.ts';
import { peerContext, publishPeers } from './ensure/peers.ts';
import { describeFailure } from './failure-message.ts';
import { failureOf, failuresToReport, reportFailure, type Trouble, troubleIn } from './failure-report.ts';
import { recordFindings } from './finding-events.ts';
import { observeHidden } from './observe/hidden-objects.ts';
import { type Observed, observe } from './observe/observe.ts';
import { parseOrRefuse } from './parse-cached.ts';
import { hasBegunToRoll, isRoll } from './roll-turns.ts';
import { withReportedMigration } from './tls/client-migration-notice.ts';
import { invalidateSecrets, withCachedSecrets } from './tls/secret-cache.ts';
import { afterFailure, needsUserAction, nextVisit } from './visit.ts';

/** The shortest time between two writes of a changing status. */
const seconds = { betweenWrites: 1, betweenWritesWhileForming: 5, untilStepsAreReported: 3 } as const;

/** One pass over one cluster: observe, plan, act, write the status. */
export function clusterReconciler(context: ControllerContext): Reconcile<string> {
  const doneUpkeep = new DoneUpkeep();
  return async (key, signal) => {
    const upkeep = doneUpkeep.take(key);
    const found = context.caches.clusters.get(key);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return finish(key, context);
    const object = withStatus(found, context);
    if (!context.isOurs(object.metadata)) return ignoreForeignScope(object, context);
    if (!context.caughtUp(key)) {
      doneUpkeep.putBack(key, upkeep);
      return requeueOnStaleCache; // the caches do not show the last write of this operator yet
    }
    const read = parseOrRefuse(object, context);
    if (typeof read === 'string') return refuse(object, read, context);
    const seen = await observeEnough(read, withCachedSecrets(key, context), signal).catch((e) => Failure.from(e));
    if (seen instanceof Failure) {
      doneUpkeep.putBack(key, upkeep);
      return unobserved(object, seen, context);
    }
    const observed = withReportedMigration(seen, object);
    return reconcile(object, { read, observed, observedAt: seen.heardAt, upkeep, doneUpkeep }, context);
  };
}

/** Asks one member of a settled cluster, and all members if the cluster is not settled any more. */
async function observeEnough(read: ReadCluster, context: ControllerContext, signal: AbortSignal): Promise<Observed> {
  const observed = await observe(read, context, signal);
  if (observed.hasAskedAll || planCluster(observed.world).is === 'settled') return observed;
  context.settled?.forget(keyOf(read.blueprint.intent));
  return observe(read, context, signal);
}

async function reconcile(
  object: Stored<ClusterObject>,
  { doneUpkeep, ...seen }: Omit<Decided, 'verdict'> & { readonly doneUpkeep: DoneUpkeep },
  context: ControllerContext,
): Promise<Outcome> {
  const key = keyOf(object.metadata);
  const { read } = seen;
  const { observed, verdict } = await decide(object, seen.observed, context);
  const trouble = await troubleIn(act(object, { ...seen, observed, verdict }, context));
  doneUpkeep.note(key, trouble.failure);
  reportFailure(object, trouble, context);
  const found = { read, observed, verdict, trouble };
  recordFindings(object, observed, context);
  const memberEvents = context.dialect.eventsOfMembers(object.status, statusAfter(object, found, context));
  const secondsSinceStatusWrite = context.secondsSinceStatusWrite(key);
  const actingFor = (context.watched?.seeSteps(key, verdict.is === 'act') ?? 0) / 1000;
  const isDue = isStatusWriteDue({ ...found, memberEvents }, { secondsSinceStatusWrite, actingFor });
  const pass = isDue ? { ...found, trouble: await publishPass(object, { ...found, memberEvents }, context) } : found;
  remember(key, pass, context);
  const ended = { ...pass, secondsBetweenLooks: context.settled?.secondsBetweenLooks };
  return nextVisit(ended, isDue ? 0 : Math.max(0, seconds.betweenWrites - secondsSinceStatusWrite));
}

/** Updates what is kept of a cluster until its next pass. */
function remember(key: string, pass: Pass, context: ControllerContext): void {
  invalidateSecrets(key, pass, context);
  context.settled?.end(key, pass);
  if (pass.verdict.is === 'settled' || needsUserAction(pass.verdict)) context.rollTurns?.forget(key);
}

/** Plans. If the plan depends on a fact that costs reads, the fact is observed, and the plan is made again. */
async function decide(
  object: Stored<ClusterObject>,
  observed: Observed,
  context: ControllerContext,
): Promise<Pick<Decided, 'observed' | 'verdict'>> {
  const verdict = planCluster(observed.world);
  if (!mayRoll(verdict, observed, context)) {
    const world = { ...observed.world, rollLimit: context.rollTurns?.limit ?? 0 };
    return { observed: { ...observed, world }, verdict: planCluster(world) };
  }
  if (needsClientEndpoints(verdict, observed.world)) {
    const world = { ...observed.world, clientEndpoints: await observeClientEndpoints(observed, context) };
    return { observed: { ...observed, world }, verdict: planCluster(world) };
  }
  if (!needsHidden(verdict, observed.world)) return { observed, verdict };
  const hidden = await observeHidden(observed, context);
  for (const { why: message } of hidden.filter(({ isTaken }) => isTaken))
    context.recordEvent(object, { type: 'Warning', reason: 'NameTaken', message });
  const world = { ...observed.world, hidden };
  return { observed: { ...observed, world }, verdict: planCluster(world) };
}

/** Takes a turn if the verdict needs one. */
function mayRoll(verdict: Verdict, { world }: Observed, { rollTurns, wake }: ControllerContext): boolean {
  if (rollTurns === undefined || !isRoll(verdict)) return true;
  const key = keyOf(world.intent);
  return rollTurns.take(key, { hasBegun: hasBegunToRoll(world), wake: () => wake?.(key) });
}

/** Reports a failed observation in the status, so that the status does not keep outdated conditions. */
async function unobserved(
  object: Stored<ClusterObject>,
  failure: Failure,
  context: ControllerContext,
): Promise<Outcome> {
  const key = keyOf(object.metadata);
  reportFailure(object, { failure }, context);
  if (
    failuresToReport({ failure }).failure !== undefined &&
    context.secondsSinceStatusWrite(key) >= seconds.betweenWrites
  ) {
    const status = context.dialect.writeUnobserved(describeFailure(failure).why, object.status, context.now());
    await failureOf(publish(object, status, context)); // the cause may be the API server itself
  }
  context.secrets?.invalidate(key);
  return failed(failure);
}

/** The garbage collector deletes the objects of a deleted cluster by their ownerReferences. */
async function finish(key: string, context: ControllerContext): Promise<Outcome> {
  const failure = await failureOf(releasePeers(key, context));
  return failure === undefined ? done : afterFailure(failure);
}

function ignoreForeignScope(object: Stored<ClusterObject>, { dialect, recordEvent }: ControllerContext): Outcome {
  for (const event of warningsOfScope(object.metadata.annotations, dialect.scopeAnnotation)) recordEvent(object, event);
  return done;
}

/**
 * Writes the status, then records the Events about members. The next pass compares members with that status, so each
 * Event is recorded once. Returns the failures of the pass, with those of publishing.
 */
async function publishPass(
  object: Stored<ClusterObject>,
  pass: Pass & Changes,
  context: ControllerContext,
): Promise<Trouble> {
  const ofPeers = await failureOf(publishPeers(pass.observed.world, peerContext(pass.read, context)));
  reportFailure(object, { aside: ofPeers }, context);
  const trouble = { ...pass.trouble, aside: pass.trouble.aside ?? ofPeers };
  await publish(object, statusAfter(object, { ...pass, trouble }, context), context);
  for (const event of pass.memberEvents) context.recordEvent(object, event);
  return trouble;
}

interface Changes {
  readonly memberEvents: readonly EventContent[];
}

interface Pass extends Pick<Decided, 'read' | 'observed' | 'verdict'> {
  readonly trouble: Trouble;
}

function statusAfter(
  object: Stored<ClusterObject>,
  { read, observed, verdict, trouble }: Pass,
  context: ControllerContext,
): object {
  const reported = failuresToReport(trouble);
  const delay = reported.failure === undefined && trouble.failure ? describeFailure(trouble.failure).why : undefined;
  const status = withPlaintext(statusOf(observed.world, delayed(verdict, delay), reported), read.blueprint);
  const { generation } = object.metadata;
  return context.dialect.writeStatus(
    { status, blueprint: read.blueprint, generation, now: context.now() },
    object.status,
  );
}

/**
 * Memory, failures and Events about members are written at once. Steps are reported only after some seconds of steps in
 * every pass, because the next pass follows a step at once. Other changes are written once a second.
 */
function isStatusWriteDue({ observed, verdict, trouble, memberEvents }: Pass & Changes, times: Times): boolean {
  if (memberEvents.length > 0 || (trouble.failure ?? trouble.aside) !== undefined) return true;
  if (verdict.is === 'act') return recordsMemory(verdict) || haveStepsLasted(times);
  return (
    times.secondsSinceStatusWrite >= writeInterval(verdict) || needsUserAction(verdict) || isComplete(verdict, observed)
  );
}

/** In seconds: the age of the last status write, and how long every pass has taken steps. */
interface Times {
  readonly secondsSinceStatusWrite: number;
  readonly actingFor: number;
}

const haveStepsLasted = ({ secondsSinceStatusWrite, actingFor }: Times): boolean =>
  secondsSinceStatusWrite >= seconds.betweenWrites && actingFor >= seconds.untilStepsAreReported;

const recordsMemory = ({ steps }: Verdict & { readonly is: 'act' }): boolean =>
  steps.some(({ kind }) => kind === 'record-bootstrap' || kind === 'record-formation');

/** The cluster is settled and all pods are ready, so no further change is about to follow. */
const isComplete = (verdict: Verdict, { world }: Observed): boolean =>
  verdict.is === 'settled' && world.memberPods.every(({ ready }) => ready);

/** A forming cluster is written less often: its status only reports that the cluster is being created. */
const writeInterval = (verdict: Verdict): number =>
  verdict.is === 'wait' && verdict.reason === 'Forming' ? seconds.betweenWritesWhileForming : seconds.betweenWrites;

async function refuse(object: Stored<ClusterObject>, problems: string, context: ControllerContext): Promise<Outcome> {
  context.recordEvent(object, { type: 'Warning', reason: 'BadSpec', message: problems });
  await publish(object, context.dialect.writeProblems(problems, object.status, context.now()), context);
  return done; // a corrected spec causes a watch event
}
