import type { AgentFacts } from '../../core/model/agent.ts';
import type { RestoreWorld } from '../../core/model/restore.ts';
import { planRestore } from '../../core/plan/restore/plan-restore.ts';
import { blocked, type RestoreStep, type RestoreVerdict } from '../../core/plan/restore/step.ts';
import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import { type KubeObject, keyOf, type Stored } from '../../kube/object.ts';
import { done, type Outcome } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure } from '../../std/failure.ts';
import { plainHttp, storeAccess } from '../agents/store-access.ts';
import { publish, withStatus } from '../cluster/publish.ts';
import type { ClusterObject } from '../cluster/sources.ts';
import type { Writer } from '../cluster/writer.ts';
import { withCertificates } from './certificates.ts';
import { byCourier, dismissCouriers } from './courier.ts';
import { type ObservedRestore, observeRestore } from './observe.ts';
import { performRestore } from './perform.ts';
import { pinOf } from './pin.ts';
import { withRememberedSecrets } from './remembered-secrets.ts';
import { intoWhatThereIs } from './replaced.ts';
import type { RestoreTools } from './sources.ts';
import { KindNotServed } from './target.ts';
import { afterLateCache, nextVisit, noteWait, visitIfUnchanged } from './visit.ts';

/** One pass over one restore: observe, plan, act, tell. */
export function restoreReconciler(tools: RestoreTools): Reconcile<string> {
  return async (key) => {
    const found = tools.caches.restores.get(key);
    if (found === undefined || isGoing(found, tools)) {
      await dismissCouriers(key, undefined, tools);
      return done;
    }
    if (!tools.isOurs(found.metadata)) return done;
    if (!tools.caughtUp(key)) return afterLateCache;
    const object = withStatus(found, tools);
    const read = tools.dialect.read(object);
    if (!read.ok) return refuse(object, read.problems.map(({ path, says }) => `${path}: ${says}`).join('; '), tools);
    return attendTo(object, read.value, tools);
  };
}

async function attendTo(object: Stored<ClusterObject>, read: ReadRestore, tools: RestoreTools): Promise<Outcome> {
  await dismissCouriers(keyOf(object.metadata), read, tools);
  if (read.memory.phase === 'complete' && !isPinned(object, tools)) return done;
  const problem = problemWith(read);
  if (problem !== undefined) return refuse(object, problem, tools);
  return (await visitIfUnchanged(read, tools)) ?? passIfServed(object, read, tools);
}

/** While the kind of clusters is not served, the restore waits; one that is over keeps its status. */
async function passIfServed(object: Stored<ClusterObject>, read: ReadRestore, tools: RestoreTools): Promise<Outcome> {
  const { memory } = read;
  try {
    return await pass(object, await intoWhatThereIs(read, tools), tools);
  } catch (thrown) {
    const isOver = memory.phase === 'complete' || memory.phase === 'failed';
    if (isOver || !(thrown instanceof KindNotServed)) throw thrown;
    const verdict = blocked(thrown.message);
    await tellStatus(object, { verdict, facts: {} }, tools);
    return nextVisit(verdict, { memory, cluster: thrown.message });
  }
}

/** One that was pinned goes on to its end, whoever deletes it. */
const isGoing = ({ metadata }: Stored<ClusterObject>, tools: RestoreTools): boolean =>
  metadata.deletionTimestamp !== undefined && !isPinned({ metadata }, tools);

const isPinned = ({ metadata }: Pick<KubeObject, 'metadata'>, tools: RestoreTools): boolean =>
  metadata.finalizers?.includes(pinOf(tools)) === true;

async function pass(object: Stored<ClusterObject>, read: ReadRestore, tools: RestoreTools): Promise<Outcome> {
  const observed = await observeRestore(object, read, withRememberedSecrets(keyOf(object.metadata), tools));
  const { world, target } = observed;
  const writer = tools.writer(keyOf(object.metadata));
  const verdict = await decide(observed, { read, tools, writer }).catch(asHindrance);
  if (verdict.is === 'over') return done;
  noteWait(verdict, observed, tools);
  const facts = factsIn(world);
  const tell = (): Promise<void> => tellStatus(object, { verdict, facts }, tools);
  if (verdict.is !== 'act') {
    await tell();
    return nextVisit(verdict, world);
  }
  const about = { restore: keyOf(object.metadata), step: verdict.step.kind, detail: verdict.message };
  tools.log('debug', 'taking step', about);
  const hindrance = await hindranceOf(performRestore(verdict.step, { object, read, target, tools, writer }));
  if (hindrance !== undefined) {
    await tellStatus(object, { verdict: hindrance, facts }, tools);
    return nextVisit(hindrance, world);
  }
  tools.log('info', 'step taken', about);
  if (!changesRestore(verdict.step)) await tell();
  if (verdict.step.kind === 'prove' && storeAccess(read.intent.store, 'to-read').isPlain) tools.tell(object, plainHttp);
  return nextVisit(verdict, world);
}

interface Deciding {
  readonly read: ReadRestore;
  readonly tools: RestoreTools;
  readonly writer: Writer;
}

/** What to do next, once those are there who are needed for it. */
async function decide(observed: ObservedRestore, deciding: Deciding): Promise<RestoreVerdict> {
  const planned = await withCertificates(planRestore(observed.world), { ...observed, ...deciding });
  return byCourier(planned, deciding);
}

type Hindrance = RestoreVerdict & { readonly is: 'wait' };

/** What the API server will not have, a quota or an account that is missing for example, is for people to know. */
function asHindrance(thrown: unknown): Hindrance {
  const { kind, message } = Failure.from(thrown);
  if (kind !== 'forbidden' && kind !== 'rejected') throw thrown;
  return { is: 'wait', isBlocked: true, message };
}

const hindranceOf = (work: Promise<void>): Promise<Hindrance | undefined> => work.then(() => undefined, asHindrance);

/** Its status cannot be written over what has just been written: that is not the version that was read. */
const changesRestore = ({ kind }: RestoreStep): boolean => kind === 'pin' || kind === 'unpin';

/** At first what was seen of the backup, then what was proven; what was told of it stays told. */
function factsIn({ memory: { phase }, proof, cluster }: RestoreWorld): AgentFacts {
  if (phase !== 'proving' && phase !== 'seeding') return {};
  const seen = proof?.state.is === 'ended' ? proof.state.report.facts : {};
  return (typeof cluster === 'string' ? undefined : cluster.seed?.facts) ?? seen;
}

interface Told {
  readonly verdict: RestoreVerdict;
  readonly facts: AgentFacts;
}

async function tellStatus(object: Stored<ClusterObject>, { verdict, facts }: Told, tools: RestoreTools): Promise<void> {
  const { generation } = object.metadata;
  await publish(
    object,
    tools.dialect.writeStatus({ verdict, facts, generation, now: tools.now() }, object.status),
    tools,
  );
  for (const news of newsOf(verdict, facts)) tools.tell(object, news);
}

function newsOf(verdict: RestoreVerdict, { warnings = [] }: AgentFacts): readonly News[] {
  if (verdict.is === 'wait' && verdict.isBlocked === true)
    return [{ type: 'Warning', reason: 'RestoreBlocked', message: verdict.message }];
  if (verdict.is !== 'enter') return [];
  const { phase, message } = verdict;
  if (phase === 'failed') return [{ type: 'Warning', reason: 'RestoreFailed', message }];
  return [
    { type: 'Normal', reason: phase === 'complete' ? 'Restored' : 'Restoring', message },
    ...warnings.map((doubt): News => ({ type: 'Warning', reason: 'Restoring', message: doubt })),
  ];
}

type News = Parameters<RestoreTools['tell']>[1];

/** What only those who open stores can judge. */
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

async function refuse(object: Stored<ClusterObject>, problems: string, tools: RestoreTools): Promise<Outcome> {
  tools.tell(object, { type: 'Warning', reason: 'BadSpec', message: problems });
  await publish(object, tools.dialect.writeProblems(problems, object.status, tools.now()), tools);
  return done;
}
