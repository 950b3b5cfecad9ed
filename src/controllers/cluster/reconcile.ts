import { planCluster } from '../../core/plan/cluster/plan-cluster.ts';
import type { Verdict } from '../../core/plan/cluster/step.ts';
import { statusOf } from '../../core/status/cluster-status.ts';
import { delayed } from '../../core/status/delay.ts';
import { withPlaintext } from '../../core/status/plaintext.ts';
import type { Told } from '../../dialects/dialect.ts';
import { warningsOfScope } from '../../dialects/warnings.ts';
import { keyOf, type Stored } from '../../kube/object.ts';
import { done, failed, type Outcome } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure } from '../../std/failure.ts';
import { act, type Decided } from './act.ts';
import { DoneUpkeep } from './freshness.ts';
import { unlessHidden } from './hidden-bodies.ts';
import { type Observed, observe } from './observe.ts';
import { freePeers, peerKeeping, publishPeers } from './peers.ts';
import { plainly } from './plain-words.ts';
import { publish, withStatus } from './publish.ts';
import { readOrRefuse } from './read-once.ts';
import { doubtSecrets, withRememberedSecrets } from './remembered-secrets.ts';
import type { ClusterObject, Tools } from './sources.ts';
import { withWhatIsTold } from './tell-clients.ts';
import { tellFindings } from './tell-findings.ts';
import { failureOf, type Trouble, tellTrouble, troubleIn, worthTelling } from './trouble.ts';
import { afterFailure, afterLateCache, needsPerson, nextVisit } from './visit.ts';

/** How often the status is written while it changes. */
const seconds = { betweenNews: 1, betweenNewsOfFounders: 5, untilNewsOfSteps: 3 } as const;

/** One pass over one cluster: observe, plan, act, tell. */
export function clusterReconciler(tools: Tools): Reconcile<string> {
  const doneUpkeep = new DoneUpkeep();
  return async (key, signal) => {
    const upkeep = doneUpkeep.take(key);
    const found = tools.caches.clusters.get(key);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return leave(key, tools);
    const object = withStatus(found, tools);
    if (!tools.isOurs(object.metadata)) return leaveToOthers(object, tools);
    if (!tools.caughtUp(key)) {
      doneUpkeep.putBack(key, upkeep);
      return afterLateCache; // the caches do not show yet what we did last
    }
    const read = readOrRefuse(object, tools);
    if (typeof read === 'string') return refuse(object, read, tools);
    const seen = await observe(read, withRememberedSecrets(key, tools), signal).catch((e: unknown) => Failure.from(e));
    if (seen instanceof Failure) {
      doneUpkeep.putBack(key, upkeep);
      return unobserved(object, seen, tools);
    }
    const observed = withWhatIsTold(seen, object);
    return lookAfter(object, { read, observed, observedAt: seen.heardAt, upkeep, doneUpkeep }, tools);
  };
}

async function lookAfter(
  object: Stored<ClusterObject>,
  { doneUpkeep, ...seen }: Omit<Decided, 'verdict'> & { readonly doneUpkeep: DoneUpkeep },
  tools: Tools,
): Promise<Outcome> {
  const key = keyOf(object.metadata);
  const { read, observed } = seen;
  const verdict = await unlessHidden(planCluster(observed.world), observed, tools);
  const trouble = await troubleIn(act(object, { ...seen, verdict }, tools));
  doneUpkeep.note(key, trouble.failure);
  tellTrouble(object, trouble, tools);
  const found = { read, observed, verdict, trouble };
  tellFindings(object, observed, tools);
  const ofMembers = tools.dialect.tellMembers(object.status, statusAfter(object, found, tools));
  const toldAgo = tools.toldAgo(key);
  const actingFor = (tools.watched?.seeSteps(key, verdict.is === 'act') ?? 0) / 1000;
  const tell = isWorthTelling({ ...found, ofMembers }, { toldAgo, actingFor });
  const pass = tell ? { ...found, trouble: await tellAll(object, { ...found, ofMembers }, tools) } : found;
  doubtSecrets(key, pass, tools);
  return nextVisit(pass, tell ? 0 : Math.max(0, seconds.betweenNews - toldAgo));
}

/** The last resort of a pass that could not observe: the status no longer says what was true before. */
async function unobserved(object: Stored<ClusterObject>, failure: Failure, tools: Tools): Promise<Outcome> {
  const key = keyOf(object.metadata);
  tellTrouble(object, { failure }, tools);
  if (worthTelling({ failure }).failure !== undefined && tools.toldAgo(key) >= seconds.betweenNews) {
    const status = tools.dialect.writeUnobserved(plainly(failure).why, object.status, tools.now());
    await failureOf(publish(object, status, tools)); // the API server may be what fails
  }
  tools.secrets?.doubt(key);
  return failed(failure);
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

/**
 * Publishes what a pass has found, and gives back its trouble with what went wrong in that. An Event about members follows the
 * status that it was found in, which the next pass is compared with: so it is written once.
 */
async function tellAll(object: Stored<ClusterObject>, pass: Pass & Changes, tools: Tools): Promise<Trouble> {
  const ofPeers = await failureOf(publishPeers(pass.observed.world, peerKeeping(pass.read, tools)));
  tellTrouble(object, { aside: ofPeers }, tools);
  const trouble = { ...pass.trouble, aside: pass.trouble.aside ?? ofPeers };
  await publish(object, statusAfter(object, { ...pass, trouble }, tools), tools);
  for (const told of pass.ofMembers) tools.tell(object, told);
  return trouble;
}

interface Changes {
  readonly ofMembers: readonly Told[];
}

interface Pass extends Pick<Decided, 'read' | 'observed' | 'verdict'> {
  readonly trouble: Trouble;
}

function statusAfter(object: Stored<ClusterObject>, { read, observed, verdict, trouble }: Pass, tools: Tools): object {
  const told = worthTelling(trouble);
  const delay = told.failure === undefined && trouble.failure ? plainly(trouble.failure).why : undefined;
  const status = withPlaintext(statusOf(observed.world, delayed(verdict, delay), told), read.blueprint);
  const { generation } = object.metadata;
  return tools.dialect.writeStatus({ status, blueprint: read.blueprint, generation, now: tools.now() }, object.status);
}

/**
 * What is remembered must be written down at once, and so must trouble and other versions of members. A step that was taken is
 * followed by a look at what came of it, and steps that go on for seconds are reported: they may change nothing. For all else
 * once a second is soon enough for people, while pods become ready one after the other.
 */
function isWorthTelling({ observed, verdict, trouble, ofMembers }: Pass & Changes, times: Times): boolean {
  if (ofMembers.length > 0 || (trouble.failure ?? trouble.aside) !== undefined) return true;
  if (verdict.is === 'act') return isToBeRemembered(verdict) || areStepsToBeTold(times);
  return times.toldAgo >= newsEvery(verdict) || needsPerson(verdict) || isTheEnd(verdict, observed);
}

/** In seconds: since when the status is as it is, and for how long every pass has taken steps. */
interface Times {
  readonly toldAgo: number;
  readonly actingFor: number;
}

const areStepsToBeTold = ({ toldAgo, actingFor }: Times): boolean =>
  toldAgo >= seconds.betweenNews && actingFor >= seconds.untilNewsOfSteps;

const isToBeRemembered = ({ steps }: Verdict & { readonly is: 'act' }): boolean =>
  steps.some(({ kind }) => kind === 'remember-bootstrap' || kind === 'remember-formation');

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
