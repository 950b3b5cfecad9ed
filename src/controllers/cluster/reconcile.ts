import { planCluster } from '../../core/plan/cluster/plan-cluster.ts';
import type { Verdict } from '../../core/plan/cluster/step.ts';
import { statusOf } from '../../core/status/cluster-status.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import { keyOf, type Stored } from '../../kube/object.ts';
import { again, done, failed, type Outcome } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure } from '../../std/failure.ts';
import { keepAccessories } from './accessories.ts';
import { growClaims } from './claims.ts';
import { keepClaims } from './keep-claims.ts';
import { type Observed, observe } from './observe.ts';
import { keepPeers, peerKeeping, publishPeers } from './peers.ts';
import { perform } from './perform.ts';
import { publish, withStatus } from './publish.ts';
import type { ClusterObject, Tools } from './sources.ts';

/** How soon to look again: at once after a deed, soon while something is under way, now and then when all is well. */
const seconds = {
  acted: 0.02,
  waiting: 0.2,
  waitingForFounders: 0.5,
  waitingForSecret: 1,
  waitingForPerson: 5,
  settled: 10,
  betweenNews: 1,
  betweenNewsOfFounders: 5,
} as const;

/** One pass over one cluster: observe, plan, act, tell. */
export function clusterReconciler(tools: Tools): Reconcile<string> {
  return async (key, signal) => {
    const found = tools.caches.clusters.get(key);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return done; // owner references clean up
    const object = withStatus(found, tools);
    if (!tools.isOurs(object.metadata)) return done;
    if (!tools.caughtUp(key)) return again(seconds.acted); // the caches do not show yet what we did last
    const read = readOrRefuse(object, tools);
    if (typeof read === 'string') return refuse(object, read, tools);

    const observed = await observe(read, tools, signal);
    const verdict = planCluster(observed.world);
    const failure = await failureOf(act(object, { read, observed, verdict }, tools));
    const status = statusAfter(object, { read, observed, verdict, failure }, tools);
    const tell = isWorthTelling(verdict, failure, tools.toldAgo(key));
    if (tell) await tellAll(object, { read, observed, status }, tools);
    return nextVisit(verdict, failure, tell);
  };
}

/** The cluster that is asked for, or why there can be none. */
function readOrRefuse(object: Stored<ClusterObject>, { dialect, refusalOf }: Tools): ReadCluster | string {
  const refusal = refusalOf?.(object);
  if (refusal !== undefined) return refusal;
  const read = dialect.read(object);
  return read.ok ? read.value : read.problems.map(({ path, says }) => `${path}: ${says}`).join('; ');
}

interface News {
  readonly read: ReadCluster;
  readonly observed: Observed;
  readonly status: object;
}

async function tellAll(object: Stored<ClusterObject>, { read, observed, status }: News, tools: Tools): Promise<void> {
  await publish(object, status, tools);
  await publishPeers(observed.world, peerKeeping(read, tools));
}

interface Pass {
  readonly read: ReadCluster;
  readonly observed: Observed;
  readonly verdict: Verdict;
  readonly failure?: Failure | undefined;
}

async function act(object: Stored<ClusterObject>, { read, observed, verdict }: Pass, tools: Tools): Promise<void> {
  if (read.blueprint.intent.paused) return;
  const writer = tools.writer(keyOf(object.metadata));
  const keeping = { caches: tools.caches, writer };
  const peers = peerKeeping(read, tools);
  await keepAccessories(read.blueprint, observed.world, keeping);
  await keepPeers(observed.world, peers);
  await keepClaims(read.blueprint, observed.world, keeping);
  await growClaims(read.blueprint, keeping);
  const { tellSpec, tellWait } = tools.dialect;
  for (const told of [...tellSpec(read.blueprint), ...tellWait(verdict)]) tools.tell(object, told);
  if (verdict.is !== 'act') return;
  const deed = { blueprint: observed.blueprint, observed, tools, writer, peers, signal: AbortSignal.timeout(30_000) };
  const { reason, message: detail } = verdict;
  for (const step of verdict.steps) {
    const about = { cluster: keyOf(object.metadata), step: step.kind, reason, detail };
    tools.log('debug', 'taking step', about);
    await perform(step, deed);
    tools.log('info', 'step taken', about);
    for (const told of tools.dialect.tellStep(step)) tools.tell(object, told);
  }
}

function statusAfter(object: Stored<ClusterObject>, { read, observed, verdict, failure }: Pass, tools: Tools): object {
  const trouble = failure === undefined || isNotNow(failure) ? undefined : failure;
  const status = statusOf(observed.world, verdict, trouble);
  const { generation } = object.metadata;
  return tools.dialect.writeStatus({ status, blueprint: read.blueprint, generation, now: tools.now() }, object.status);
}

/**
 * What is remembered must be written down at once, and trouble too. A step that was taken is followed by a look at what
 * came of it; and for all else once a second is soon enough for people, while pods become ready one after the other.
 */
function isWorthTelling(verdict: Verdict, failure: Failure | undefined, toldSecondsAgo: number): boolean {
  if (failure !== undefined) return true;
  if (verdict.is !== 'act') return toldSecondsAgo >= newsEvery(verdict) || needsPerson(verdict);
  return verdict.steps.some(({ kind }) => kind === 'remember-bootstrap' || kind === 'remember-formation');
}

/** Before there is a cluster, that it is being created is all that anybody can use. */
const newsEvery = (verdict: Verdict): number =>
  verdict.is === 'wait' && verdict.reason === 'Forming' ? seconds.betweenNewsOfFounders : seconds.betweenNews;

const needsPerson = (verdict: Verdict): boolean => verdict.is === 'wait' && verdict.needsPerson === true;

/** That a step failed is news for the status, not a reason to leave the status unwritten. */
const failureOf = (work: Promise<void>): Promise<Failure | undefined> =>
  work.then(
    () => undefined,
    (thrown: unknown) => Failure.from(thrown),
  );

async function refuse(object: Stored<ClusterObject>, problems: string, tools: Tools): Promise<Outcome> {
  tools.tell(object, { type: 'Warning', reason: 'BadSpec', message: problems });
  await publish(object, tools.dialect.writeProblems(problems, object.status, tools.now()), tools);
  return done; // until somebody corrects it, and then there is an event
}

function nextVisit(verdict: Verdict, failure: Failure | undefined, told: boolean): Outcome {
  if (failure !== undefined) return isNotNow(failure) ? again(seconds.waiting) : failed(failure);
  switch (verdict.is) {
    case 'act':
      return again(seconds.acted);
    case 'wait':
      return again(patienceFor(verdict));
    case 'settled':
      return again(told ? seconds.settled : seconds.betweenNews); // etcd cannot wake us when something changes inside it
    default:
      return verdict satisfies never;
  }
}

/**
 * Secrets cannot be watched, because we may not list them; nor can the certificates that members show. Founders wake us when
 * they are ready, and many at once need the machine for themselves.
 */
function patienceFor(verdict: Verdict & { readonly is: 'wait' }): number {
  if (verdict.reason === 'Forming') return seconds.waitingForFounders;
  if (verdict.reason === 'SecretUnfit' || verdict.reason === 'Certificates') return seconds.waitingForSecret;
  return needsPerson(verdict) ? seconds.waitingForPerson : seconds.waiting;
}

/** What etcd or the API server asks us to do again later is no failure: etcd wants five seconds between two changes. */
const isNotNow = ({ kind }: Failure): boolean => kind === 'conflict' || kind === 'unreachable';
