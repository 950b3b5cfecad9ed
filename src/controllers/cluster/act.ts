import type { ClusterWorld } from '../../core/model/cluster.ts';
import type { Step, Verdict } from '../../core/plan/cluster/step.ts';
import { isFoundRunning } from '../../core/plan/cluster/take-over.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import { warningsOfStrangers } from '../../dialects/warnings.ts';
import { keyOf, type Stored } from '../../kube/object.ts';
import type { Failure } from '../../std/failure.ts';
import { keepAccessories } from './accessories.ts';
import { growClaims } from './claims.ts';
import { confirmFresh, type Upkeep } from './freshness.ts';
import { freeClaims, keepClaims } from './keep-claims.ts';
import { keepLabels } from './lost-labels.ts';
import type { Observed } from './observe.ts';
import { keepPeers, type PeerKeeping, peerKeeping } from './peers.ts';
import { perform } from './perform.ts';
import type { ClusterObject, Tools } from './sources.ts';
import { tellClients } from './tell-clients.ts';
import { tellPlaintext } from './tell-plaintext.ts';
import { failureOf } from './trouble.ts';

export interface Decided {
  readonly read: ReadCluster;
  readonly observed: Observed;
  readonly verdict: Verdict;
  /** When members were heard, by the monotonic clock. */
  readonly observedAt: number;
  /** What the pass before has come to, if it had to be broken off after that. */
  readonly upkeep?: Upkeep | undefined;
}

/** Keeps the objects around members, then takes the steps of a verdict. Gives back what could not be done beside the steps. */
export async function act(object: Stored<ClusterObject>, decided: Decided, tools: Tools): Promise<Failure | undefined> {
  const { read, observed, verdict } = decided;
  const writer = tools.writer(keyOf(object.metadata));
  if (read.blueprint.intent.paused) return failureOf(freeClaims(read.blueprint, { caches: tools.caches, writer }));
  const peers = peerKeeping({ ...read, memory: observed.world.memory }, tools);
  const keeping = { caches: tools.caches, writer, onService: toldOfService(object, tools) };
  const isDone = isOutOfReach(observed.world) ? {} : isActing(verdict) && decided.upkeep;
  const upkeep = isDone || (await keepParts({ read, observed, peers, tools }, keeping));
  const { tellSpec, tellWait } = tools.dialect;
  const warnings = [...tellSpec(read.blueprint), ...tellWait(verdict), ...warningsOfStrangers(observed.world)];
  for (const told of warnings) tools.tell(object, told);
  tellClients(object, observed, tools);
  tellPlaintext(object, read.blueprint, tools);
  if (isActing(verdict)) await take(verdict, { ...decided, object, upkeep, peers }, tools);
  return upkeep.aside;
}

const isActing = (verdict: Verdict): verdict is Acting => verdict.is === 'act';

type Acting = Verdict & { readonly is: 'act' };

interface Taking extends Pick<Decided, 'observed' | 'observedAt'> {
  readonly object: Stored<ClusterObject>;
  readonly upkeep: Upkeep;
  readonly peers: PeerKeeping | undefined;
}

async function take(verdict: Acting, taking: Taking, tools: Tools): Promise<void> {
  const { object, observed, upkeep, peers } = taking;
  const cluster = keyOf(object.metadata);
  const writer = tools.writer(cluster);
  const deed = { blueprint: observed.blueprint, observed, tools, writer, peers, signal: AbortSignal.timeout(30_000) };
  const { reason, message: detail } = verdict;
  for (const step of verdict.steps) {
    if (upkeep.ofClaims !== undefined && needsMarks(step)) throw upkeep.ofClaims;
    confirmFresh(step, taking, tools);
    const about = { cluster, step: step.kind, reason, detail };
    tools.log('debug', 'taking step', about);
    await perform(step, deed);
    tools.log('info', 'step taken', about);
    for (const told of tools.dialect.tellStep(step)) tools.tell(object, told);
  }
}

/**
 * The PVCs that stay name the voters, for a cluster that is created again on them. Members that could stay are not removed
 * while that cannot be corrected: a cluster of one whose PVC names five voters would be taken for one without a majority.
 */
const needsMarks = (step: Step): boolean => step.kind === 'remove-member' && step.because !== 'dead';

interface Kept extends Pick<Decided, 'read' | 'observed'> {
  readonly peers: PeerKeeping | undefined;
  readonly tools: Tools;
}

/** Members go on without peers, and on the volumes that they have: a failure here does not hold up a step. */
async function keepParts(
  { read: { blueprint }, observed, peers, tools }: Kept,
  keeping: Parameters<typeof keepAccessories>[2],
): Promise<Upkeep> {
  const { world } = observed;
  const inTheWay = await keepAccessories(blueprint, world, keeping);
  if (inTheWay !== undefined && !hasFormed(world)) throw inTheWay; // nothing is founded beside a stranger
  const ofPeers = await failureOf(keepPeers(world, peers));
  const ofClaims = await failureOf(keepClaims(blueprint, world, keeping));
  const signal = AbortSignal.timeout(30_000);
  const ofLabels = await failureOf(keepLabels({ blueprint, observed, tools, writer: keeping.writer, signal }));
  const ofDisks = await failureOf(growClaims(blueprint, world, keeping));
  return { aside: ofPeers ?? inTheWay ?? ofClaims ?? ofLabels ?? ofDisks, ofClaims };
}

const hasFormed = ({ memory, membership }: ClusterWorld): boolean => memory.clusterId !== undefined || membership.seen;

const toldOfService =
  (object: Stored<ClusterObject>, { dialect, tell }: Tools) =>
  (name: string): void => {
    for (const told of dialect.tellService?.(name) ?? []) tell(object, told);
  };

/** What another operator has made is not touched at all before it has been heard who its members are. */
const isOutOfReach = (world: ClusterWorld): boolean =>
  world.outOfSight !== undefined || (!world.membership.seen && isFoundRunning(world));
