import type { ReadCluster } from '../../../apis/common/dialect.ts';
import { warningsOfForeignObjects } from '../../../apis/common/warnings.ts';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { MemberStep, Step, Verdict } from '../../../core/cluster/plan/step.ts';
import { planUpkeep, upkeepScope } from '../../../core/cluster/plan/upkeep/plan-upkeep.ts';
import type { UpkeepStep } from '../../../core/cluster/plan/upkeep/step.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import type { Reason } from '../../../core/reasons.ts';
import { keyOf, type Stored } from '../../../kube/object.ts';
import type { Failure } from '../../../std/failure.ts';
import type { ClusterObject, ControllerContext } from '../../shared/context.ts';
import { observeLiveObjects } from '../ensure/live-objects.ts';
import { type PeerContext, peerContext } from '../ensure/peers.ts';
import type { Observed } from '../observe/observe.ts';
import { recordPlaintextEvent } from '../plaintext-event.ts';
import { notifyClients } from '../tls/client-migration-notice.ts';
import { confirmFresh, type Upkeep } from './freshness.ts';
import { perform } from './perform.ts';
import { takeUpkeep } from './upkeep/take-upkeep.ts';

export interface Decided {
  readonly read: ReadCluster;
  readonly observed: Observed;
  readonly verdict: Verdict;
  /** The time when members had answered, on the monotonic clock. */
  readonly observedAt: number;
  /** The upkeep of the previous pass, if that pass was aborted after its upkeep. */
  readonly upkeep?: Upkeep | undefined;
}

/**
 * Takes the upkeep steps of the objects around members, then the steps of the verdict. Returns a failure that did not
 * stop the steps.
 */
export async function act(
  object: Stored<ClusterObject>,
  decided: Decided,
  context: ControllerContext,
): Promise<Failure | undefined> {
  const { read, observed, verdict } = decided;
  const acting = { ...decided, object, peers: peerContext({ ...read, memory: observed.world.memory }, context) };
  const upkeep = await keepUp(acting, context);
  if (read.blueprint.intent.paused) return upkeep.aside;
  const { eventsOfSpec, eventsOfWait } = context.dialect;
  const warnings = [
    ...eventsOfSpec(read.blueprint),
    ...eventsOfWait(verdict),
    ...warningsOfForeignObjects(observed.world),
  ];
  for (const event of warnings) context.recordEvent(object, event);
  notifyClients(object, observed, context);
  recordPlaintextEvent(object, read.blueprint, context);
  if (isActing(verdict)) await takeSteps(verdict, { ...acting, upkeep }, context);
  return upkeep.aside;
}

const isActing = (verdict: Verdict): verdict is Acting => verdict.is === 'act';

type Acting = Verdict & { readonly is: 'act' };

interface Target extends Decided {
  readonly object: Stored<ClusterObject>;
  readonly peers: PeerContext | undefined;
}

/** Upkeep that was done right before this pass is not repeated before a step. */
async function keepUp(target: Target, context: ControllerContext): Promise<Upkeep> {
  const { read, observed, verdict, upkeep, peers } = target;
  const { world } = observed;
  if (upkeep !== undefined && isActing(verdict) && upkeepScope(world) === 'all') return upkeep;
  const live = await observeLiveObjects({ read, world, peers }, context);
  const steps = planUpkeep({ ...world, blueprint: read.blueprint, live, verdict });
  const take = (step: UpkeepStep): Promise<void> =>
    takeStep(step, { target, blueprint: read.blueprint, signal: timeout(), about: { detail: step.why } }, context);
  return takeUpkeep(steps, { take, hasFormed: hasFormed(world) });
}

async function takeSteps(
  { steps, reason, message: detail }: Acting,
  target: Target & { readonly upkeep: Upkeep },
  context: ControllerContext,
): Promise<void> {
  const { observed, upkeep } = target;
  const signal = timeout();
  for (const step of steps) {
    if (upkeep.ofClaims !== undefined && needsPvcAnnotations(step)) throw upkeep.ofClaims;
    confirmFresh(step, target, context);
    await takeStep(step, { target, blueprint: observed.blueprint, signal, about: { reason, detail } }, context);
  }
}

const timeout = (): AbortSignal => AbortSignal.timeout(30_000);

interface Taking {
  readonly target: Target;
  readonly blueprint: Blueprint;
  readonly signal: AbortSignal;
  /** The cause of the step, for the log. */
  readonly about: { readonly reason?: Reason; readonly detail: string };
}

/** Takes one step. Every write to the objects and members of a cluster is made, logged and reported here. */
async function takeStep(
  step: Step,
  { target: { object, observed, peers }, blueprint, signal, about }: Taking,
  context: ControllerContext,
): Promise<void> {
  const cluster = keyOf(object.metadata);
  const fields = { cluster, step: step.kind, ...about };
  context.log('debug', 'taking step', fields);
  await perform(step, { blueprint, observed, controller: context, writer: context.writer(cluster), peers, signal });
  context.log('info', 'step taken', fields);
  for (const event of context.dialect.eventsOfStep(step)) context.recordEvent(object, event);
}

/**
 * PVC annotations name the voters, for a cluster that is recreated on the PVCs. A live member is not removed while they
 * cannot be updated: a cluster of one whose PVC names five voters would count as one without quorum.
 */
const needsPvcAnnotations = (step: MemberStep): boolean => step.kind === 'remove-member' && step.because !== 'dead';

const hasFormed = ({ memory, membership }: ClusterWorld): boolean => memory.clusterId !== undefined || membership.seen;
