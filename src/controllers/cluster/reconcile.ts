import type { ClusterWorld } from '../../core/model/cluster.ts';
import { planCluster } from '../../core/plan/cluster/plan-cluster.ts';
import type { Verdict } from '../../core/plan/cluster/step.ts';
import { isFoundRunning } from '../../core/plan/cluster/take-over.ts';
import { statusOf } from '../../core/status/cluster-status.ts';
import { delayed } from '../../core/status/delay.ts';
import { withPlaintext } from '../../core/status/plaintext.ts';
import type { ReadCluster, Told } from '../../dialects/dialect.ts';
import { warningsOfScope, warningsOfStrangers } from '../../dialects/warnings.ts';
import { keyOf, type Stored } from '../../kube/object.ts';
import { done, type Outcome } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import type { Failure } from '../../std/failure.ts';
import { keepAccessories } from './accessories.ts';
import { growClaims } from './claims.ts';
import { unlessHidden } from './hidden-bodies.ts';
import { freeClaims, keepClaims } from './keep-claims.ts';
import { keepLabels } from './lost-labels.ts';
import { type Observed, observe } from './observe.ts';
import { freePeers, keepPeers, peerKeeping, publishPeers } from './peers.ts';
import { perform } from './perform.ts';
import { plainly } from './plain-words.ts';
import { publish, withStatus } from './publish.ts';
import { readOrRefuse } from './read-once.ts';
import { doubtSecrets, withRememberedSecrets } from './remembered-secrets.ts';
import type { ClusterObject, Tools } from './sources.ts';
import { tellClients, withWhatIsTold } from './tell-clients.ts';
import { tellFindings } from './tell-findings.ts';
import { tellPlaintext } from './tell-plaintext.ts';
import { failureOf, type Trouble, tellTrouble, troubleIn, worthTelling } from './trouble.ts';
import { afterFailure, afterLateCache, needsPerson, nextVisit } from './visit.ts';

/** How often the status is written while it changes. */
const seconds = { betweenNews: 1, betweenNewsOfFounders: 5 } as const;

/** One pass over one cluster: observe, plan, act, tell. */
export function clusterReconciler(tools: Tools): Reconcile<string> {
  return async (key, signal) => {
    const found = tools.caches.clusters.get(key);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return leave(key, tools);
    const object = withStatus(found, tools);
    if (!tools.isOurs(object.metadata)) return leaveToOthers(object, tools);
    if (!tools.caughtUp(key)) return afterLateCache; // the caches do not show yet what we did last
    const read = readOrRefuse(object, tools);
    if (typeof read === 'string') return refuse(object, read, tools);

    const observed = withWhatIsTold(await observe(read, withRememberedSecrets(key, tools), signal), object);
    const verdict = await unlessHidden(planCluster(observed.world), observed, tools);
    const trouble = await troubleIn(act(object, { read, observed, verdict }, tools));
    tellTrouble(object, trouble, tools);
    const pass = { read, observed, verdict, trouble };
    tellFindings(object, observed, tools);
    const status = statusAfter(object, pass, tools);
    const ofMembers = tools.dialect.tellMembers(object.status, status);
    const toldAgo = tools.toldAgo(key);
    const tell = isWorthTelling({ ...pass, ofMembers }, toldAgo);
    if (tell) await tellAll(object, { read, observed, status, ofMembers }, tools);
    doubtSecrets(key, pass, tools);
    return nextVisit(pass, tell ? 0 : Math.max(0, seconds.betweenNews - toldAgo));
  };
}

/** Owner references clean up. */
async function leave(key: string, tools: Tools): Promise<Outcome> {
  const failure = await failureOf(freePeers(key, tools));
  return failure === undefined ? done : afterFailure(failure);
}

function leaveToOthers(object: Stored<ClusterObject>, { dialect, tell }: Tools): Outcome {
  for (const told of warningsOfScope(object.metadata.annotations, dialect.scopeAnnotation)) tell(object, told);
  return done;
}

interface News {
  readonly read: ReadCluster;
  readonly observed: Observed;
  readonly status: object;
  readonly ofMembers: readonly Told[];
}

/** An Event about members follows the status that it was found in, which the next pass is compared with: so it is told once. */
async function tellAll(object: Stored<ClusterObject>, news: News, tools: Tools): Promise<void> {
  await publish(object, news.status, tools);
  for (const told of news.ofMembers) tools.tell(object, told);
  await publishPeers(news.observed.world, peerKeeping(news.read, tools));
}

interface Decided {
  readonly read: ReadCluster;
  readonly observed: Observed;
  readonly verdict: Verdict;
}

interface Pass extends Decided {
  readonly trouble: Trouble;
}

/** Gives back what could not be done beside the steps. */
async function act(
  object: Stored<ClusterObject>,
  { read, observed, verdict }: Decided,
  tools: Tools,
): Promise<Failure | undefined> {
  const writer = tools.writer(keyOf(object.metadata));
  if (read.blueprint.intent.paused) return failureOf(freeClaims(read.blueprint, { caches: tools.caches, writer }));
  const peers = peerKeeping({ ...read, memory: observed.world.memory }, tools);
  const keeping = { caches: tools.caches, writer, onService: toldOfService(object, tools) };
  const aside = isOutOfReach(observed.world) ? undefined : await keepParts({ read, observed, peers, tools }, keeping);
  const { tellSpec, tellWait } = tools.dialect;
  const warnings = [...tellSpec(read.blueprint), ...tellWait(verdict), ...warningsOfStrangers(observed.world)];
  for (const told of warnings) tools.tell(object, told);
  tellClients(object, observed, tools);
  tellPlaintext(object, read.blueprint, tools);
  if (verdict.is !== 'act') return aside;
  const deed = { blueprint: observed.blueprint, observed, tools, writer, peers, signal: AbortSignal.timeout(30_000) };
  const { reason, message: detail } = verdict;
  for (const step of verdict.steps) {
    const about = { cluster: keyOf(object.metadata), step: step.kind, reason, detail };
    tools.log('debug', 'taking step', about);
    await perform(step, deed);
    tools.log('info', 'step taken', about);
    for (const told of tools.dialect.tellStep(step)) tools.tell(object, told);
  }
  return aside;
}

interface Kept extends Pick<Decided, 'read' | 'observed'> {
  readonly peers: ReturnType<typeof peerKeeping>;
  readonly tools: Tools;
}

/** What members have around them. They live without peers, and on the disks that they have: that does not hold up a step. */
async function keepParts(
  { read: { blueprint }, observed, peers, tools }: Kept,
  keeping: Parameters<typeof keepAccessories>[2],
): Promise<Failure | undefined> {
  const { world } = observed;
  const inTheWay = await keepAccessories(blueprint, world, keeping);
  if (inTheWay !== undefined && !hasFormed(world)) throw inTheWay; // nothing is founded beside a stranger
  const ofPeers = await failureOf(keepPeers(world, peers));
  await keepClaims(blueprint, world, keeping);
  const signal = AbortSignal.timeout(30_000);
  const ofLabels = await failureOf(keepLabels({ blueprint, observed, tools, writer: keeping.writer, signal }));
  const ofDisks = await failureOf(growClaims(blueprint, world, keeping));
  return ofPeers ?? inTheWay ?? ofLabels ?? ofDisks;
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

function statusAfter(object: Stored<ClusterObject>, { read, observed, verdict, trouble }: Pass, tools: Tools): object {
  const told = worthTelling(trouble);
  const delay = told.failure === undefined && trouble.failure ? plainly(trouble.failure).why : undefined;
  const status = withPlaintext(statusOf(observed.world, delayed(verdict, delay), told), read.blueprint);
  const { generation } = object.metadata;
  return tools.dialect.writeStatus({ status, blueprint: read.blueprint, generation, now: tools.now() }, object.status);
}

/**
 * What is remembered must be written down at once, and so must trouble and other versions of members. A step that was taken is
 * followed by a look at what came of it; and for all else once a second is soon enough for people, while pods become ready one
 * after the other.
 */
function isWorthTelling(
  { observed, verdict, trouble, ofMembers }: Pass & Pick<News, 'ofMembers'>,
  toldSecondsAgo: number,
): boolean {
  if (ofMembers.length > 0) return true;
  if (trouble.failure !== undefined || trouble.aside !== undefined) return true;
  if (verdict.is === 'act')
    return verdict.steps.some(({ kind }) => kind === 'remember-bootstrap' || kind === 'remember-formation');
  return toldSecondsAgo >= newsEvery(verdict) || needsPerson(verdict) || isTheEnd(verdict, observed);
}

/** All is done and everybody is ready: there is nothing to come that could be told along with it. */
const isTheEnd = (verdict: Verdict, { world }: Observed): boolean =>
  verdict.is === 'settled' && world.carriers.every(({ ready }) => ready);

/** Before there is a cluster, that it is being created is all that anybody can use. */
const newsEvery = (verdict: Verdict): number =>
  verdict.is === 'wait' && verdict.reason === 'Forming' ? seconds.betweenNewsOfFounders : seconds.betweenNews;

async function refuse(object: Stored<ClusterObject>, problems: string, tools: Tools): Promise<Outcome> {
  tools.tell(object, { type: 'Warning', reason: 'BadSpec', message: problems });
  await publish(object, tools.dialect.writeProblems(problems, object.status, tools.now()), tools);
  return done; // until somebody corrects it, and then there is an event
}
