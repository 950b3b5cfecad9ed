import type { ReadCluster } from '../../../apis/common/dialect.ts';
import { warningsOfForeignObjects } from '../../../apis/common/warnings.ts';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import { needsAdoption } from '../../../core/cluster/plan/bootstrap/adopt.ts';
import type { Step, Verdict } from '../../../core/cluster/plan/step.ts';
import { keyOf, type Stored } from '../../../kube/object.ts';
import type { Failure } from '../../../std/failure.ts';
import type { ClusterObject, ControllerContext } from '../../shared/context.ts';
import { ensureLabels } from '../ensure/labels.ts';
import { ensurePeers, type PeerContext, peerContext } from '../ensure/peers.ts';
import { ensurePvcOwnership, releasePvcs } from '../ensure/pvc-ownership.ts';
import { resizePvcs } from '../ensure/pvc-resize.ts';
import { ensureServicesAndPdb } from '../ensure/services-and-pdb.ts';
import { failureOf } from '../failure-report.ts';
import type { Observed } from '../observe/observe.ts';
import { recordPlaintextEvent } from '../plaintext-event.ts';
import { notifyClients } from '../tls/client-migration-notice.ts';
import { confirmFresh, type Upkeep } from './freshness.ts';
import { perform } from './perform.ts';

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
 * Ensures the objects around members, then takes the steps of the verdict. Returns a failure that did not stop the
 * steps.
 */
export async function act(
  object: Stored<ClusterObject>,
  decided: Decided,
  context: ControllerContext,
): Promise<Failure | undefined> {
  const { read, observed, verdict } = decided;
  const writer = context.writer(keyOf(object.metadata));
  if (read.blueprint.intent.paused) return failureOf(releasePvcs(read.blueprint, { caches: context.caches, writer }));
  const peers = peerContext({ ...read, memory: observed.world.memory }, context);
  const ensureContext = { caches: context.caches, writer, onService: recordServiceEvent(object, context) };
  const isDone = isAdoptionUnconfirmed(observed.world) ? {} : isActing(verdict) && decided.upkeep;
  const upkeep = isDone || (await ensureObjects({ read, observed, peers, context }, ensureContext));
  const { eventsOfSpec, eventsOfWait } = context.dialect;
  const warnings = [
    ...eventsOfSpec(read.blueprint),
    ...eventsOfWait(verdict),
    ...warningsOfForeignObjects(observed.world),
  ];
  for (const event of warnings) context.recordEvent(object, event);
  notifyClients(object, observed, context);
  recordPlaintextEvent(object, read.blueprint, context);
  if (isActing(verdict)) await takeSteps(verdict, { ...decided, object, upkeep, peers }, context);
  return upkeep.aside;
}

const isActing = (verdict: Verdict): verdict is Acting => verdict.is === 'act';

type Acting = Verdict & { readonly is: 'act' };

interface Taking extends Pick<Decided, 'observed' | 'observedAt'> {
  readonly object: Stored<ClusterObject>;
  readonly upkeep: Upkeep;
  readonly peers: PeerContext | undefined;
}

async function takeSteps(verdict: Acting, taking: Taking, context: ControllerContext): Promise<void> {
  const { object, observed, upkeep, peers } = taking;
  const cluster = keyOf(object.metadata);
  const writer = context.writer(cluster);
  const stepContext = {
    blueprint: observed.blueprint,
    observed,
    controller: context,
    writer,
    peers,
    signal: AbortSignal.timeout(30_000),
  };
  const { reason, message: detail } = verdict;
  for (const step of verdict.steps) {
    if (upkeep.ofClaims !== undefined && needsPvcAnnotations(step)) throw upkeep.ofClaims;
    confirmFresh(step, taking, context);
    const about = { cluster, step: step.kind, reason, detail };
    context.log('debug', 'taking step', about);
    await perform(step, stepContext);
    context.log('info', 'step taken', about);
    for (const event of context.dialect.eventsOfStep(step)) context.recordEvent(object, event);
  }
}

/**
 * PVC annotations name the voters, for a cluster that is recreated on the PVCs. A live member is not removed while they
 * cannot be updated: a cluster of one whose PVC names five voters would count as one without quorum.
 */
const needsPvcAnnotations = (step: Step): boolean => step.kind === 'remove-member' && step.because !== 'dead';

interface ToEnsure extends Pick<Decided, 'read' | 'observed'> {
  readonly peers: PeerContext | undefined;
  readonly context: ControllerContext;
}

/** Members run without EtcdPeers and with outdated PVCs, so a failure here does not block steps. */
async function ensureObjects(
  { read: { blueprint }, observed, peers, context }: ToEnsure,
  ensureContext: Parameters<typeof ensureServicesAndPdb>[2],
): Promise<Upkeep> {
  const { world } = observed;
  const ofServices = await ensureServicesAndPdb(blueprint, world, ensureContext);
  if (ofServices !== undefined && !hasFormed(world)) throw ofServices; // a name conflict blocks the bootstrap
  const ofPeers = await failureOf(ensurePeers(world, peers));
  const ofClaims = await failureOf(ensurePvcOwnership(blueprint, world, ensureContext));
  const signal = AbortSignal.timeout(30_000);
  const ofLabels = await failureOf(
    ensureLabels({ blueprint, observed, controller: context, writer: ensureContext.writer, signal }),
  );
  const ofVolumes = await failureOf(resizePvcs(blueprint, world, ensureContext));
  return { aside: ofPeers ?? ofServices ?? ofClaims ?? ofLabels ?? ofVolumes, ofClaims };
}

const hasFormed = ({ memory, membership }: ClusterWorld): boolean => memory.clusterId !== undefined || membership.seen;

const recordServiceEvent =
  (object: Stored<ClusterObject>, { dialect, recordEvent }: ControllerContext) =>
  (name: string): void => {
    for (const event of dialect.eventsOfService?.(name) ?? []) recordEvent(object, event);
  };

/** True for a cluster of another operator whose member list is unknown: its objects are not changed yet. */
const isAdoptionUnconfirmed = (world: ClusterWorld): boolean =>
  world.missingPermission !== undefined || (!world.membership.seen && needsAdoption(world));
