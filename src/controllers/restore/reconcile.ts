import type { AgentFacts } from '../../core/model/agent.ts';
import { planRestore, type RestoreVerdict } from '../../core/plan/restore/plan-restore.ts';
import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import { type KubeObject, keyOf, type Stored } from '../../kube/object.ts';
import { again, done, type Outcome } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure } from '../../std/failure.ts';
import { storeAccess } from '../agents/store-access.ts';
import { publish, withStatus } from '../cluster/publish.ts';
import type { ClusterObject } from '../cluster/sources.ts';
import { observeRestore } from './observe.ts';
import { performRestore } from './perform.ts';
import { pinOf } from './pin.ts';
import type { RestoreTools } from './sources.ts';

/** How soon to look again: what a restore waits for is mostly not watched. */
const seconds = { acted: 0.05, waiting: 0.5, blocked: 3 } as const;

/** One pass over one restore: observe, plan, act, tell. */
export function restoreReconciler(tools: RestoreTools): Reconcile<string> {
  return async (key) => {
    const found = tools.caches.restores.get(key);
    if (found === undefined || isGoing(found, tools) || !tools.isOurs(found.metadata)) return done;
    if (!tools.caughtUp(key)) return again(seconds.acted);
    const object = withStatus(found, tools);
    const read = tools.dialect.read(object);
    if (!read.ok) return refuse(object, read.problems.map(({ path, says }) => `${path}: ${says}`).join('; '), tools);
    return attendTo(object, read.value, tools);
  };
}

async function attendTo(object: Stored<ClusterObject>, read: ReadRestore, tools: RestoreTools): Promise<Outcome> {
  if (read.memory.phase === 'complete' && !isPinned(object, tools)) return done;
  const problem = problemWith(read);
  return problem === undefined ? pass(object, read, tools) : refuse(object, problem, tools);
}

/** One that was pinned goes on to its end, whoever deletes it. */
const isGoing = ({ metadata }: Stored<ClusterObject>, tools: RestoreTools): boolean =>
  metadata.deletionTimestamp !== undefined && !isPinned({ metadata }, tools);

const isPinned = ({ metadata }: Pick<KubeObject, 'metadata'>, tools: RestoreTools): boolean =>
  metadata.finalizers?.includes(pinOf(tools)) === true;

async function pass(object: Stored<ClusterObject>, read: ReadRestore, tools: RestoreTools): Promise<Outcome> {
  const { world, target } = await observeRestore(object, read, tools);
  const verdict = planRestore(world);
  if (verdict.is === 'over') return done;
  const writer = tools.writer(keyOf(object.metadata));
  const facts = factsIn(world.proof);
  const tell = (): Promise<void> => tellStatus(object, { verdict, facts }, tools);
  if (verdict.is !== 'act') {
    await tell();
    return nextVisit(verdict);
  }
  await performRestore(verdict.step, { object, read, target, tools, writer });
  tools.log('info', 'step taken', {
    restore: keyOf(object.metadata),
    step: verdict.step.kind,
    detail: verdict.message,
  });
  await tell();
  return nextVisit(verdict);
}

const factsIn = (
  proof: { readonly state: { readonly is: string; readonly report?: { readonly facts: AgentFacts } } } | undefined,
): AgentFacts => proof?.state.report?.facts ?? {};

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
  const doubts = phase === 'seeding' ? warnings : [];
  return [
    { type: 'Normal', reason: phase === 'complete' ? 'Restored' : 'Restoring', message },
    ...doubts.map((doubt): News => ({ type: 'Warning', reason: 'Restoring', message: doubt })),
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

function nextVisit(verdict: RestoreVerdict): Outcome {
  switch (verdict.is) {
    case 'act':
    case 'enter':
      return again(seconds.acted);
    case 'wait':
      return again(verdict.isBlocked === true ? seconds.blocked : seconds.waiting);
    case 'over':
      return done;
    default:
      return verdict satisfies never;
  }
}
