import type { RestorePhase, RestoreWorld } from '../../core/model/restore.ts';
import type { RestoreVerdict } from '../../core/plan/restore/step.ts';
import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import { keyOf } from '../../kube/object.ts';
import { again, done, notYet, type Outcome, waiting } from '../../runtime/outcome.ts';
import type { ObservedRestore } from './observe.ts';
import type { RestoreTools } from './sources.ts';

/** How soon to look again: what a restore waits for is mostly not watched. */
const seconds = { acted: 0.02, moment: 0.2, waiting: 0.5, blocked: 3, mostWithoutService: 2 } as const;

/** The caches do not show the operator's last write yet. */
export const afterLateCache: Outcome = notYet(seconds.acted);

/** The next visit, if what is waited for has not happened, as a look at that alone shows. */
export async function visitIfUnchanged(
  { intent, memory }: ReadRestore,
  tools: RestoreTools,
): Promise<Outcome | undefined> {
  const isUnchanged = await tools.glances?.isUnchanged(intent, memory.phase, tools);
  return isUnchanged === true ? waitIn(memory.phase, secondsIn(memory.phase)) : undefined;
}

/** While members are exchanged nothing serves, so waits stay short however long they last. */
const waitIn = (phase: RestorePhase, afterSeconds: number, waitsFor: string = phase): Outcome =>
  phase === 'switching' ? waiting(waitsFor, afterSeconds, seconds.mostWithoutService) : waiting(waitsFor, afterSeconds);

const secondsIn = (phase: RestorePhase): number => (phase === 'switching' ? seconds.moment : seconds.waiting);

/** Notes what the next pass may look at alone, and which Secrets it is to read again. */
export function noteWait(verdict: RestoreVerdict, observed: ObservedRestore, tools: RestoreTools): void {
  const { world } = observed;
  tools.glances?.note(verdict, observed);
  if (isSecretInDoubt(verdict, world)) tools.secrets?.doubt(keyOf(world.intent));
}

/** Whether another content of a Secret may be what helps. */
function isSecretInDoubt(verdict: RestoreVerdict, { cluster }: RestoreWorld): boolean {
  if (verdict.is !== 'wait' || verdict.isBlocked === true) return true;
  return typeof cluster !== 'string' && cluster.seed?.isUp === true && cluster.seed.state !== 'ready';
}

/** The seed is up, and will serve in a moment. */
const isAboutToServe = ({ memory, cluster }: Pick<RestoreWorld, 'memory' | 'cluster'>): boolean =>
  memory.phase === 'seeding' && typeof cluster !== 'string' && cluster.seed?.isUp === true;

export function nextVisit(verdict: RestoreVerdict, world: Pick<RestoreWorld, 'memory' | 'cluster'>): Outcome {
  const { phase } = world.memory;
  switch (verdict.is) {
    case 'act':
    case 'enter':
      return again(seconds.acted);
    case 'wait':
      if (verdict.isBlocked === true) return waitIn(phase, seconds.blocked, `${phase}, blocked`);
      return waitIn(phase, isAboutToServe(world) ? seconds.moment : secondsIn(phase));
    case 'over':
      return done;
    default:
      return verdict satisfies never;
  }
}
