import type { ReadRestore } from '../../apis/common/restore-dialect.ts';
import type { RestorePhase, RestoreWorld } from '../../core/restore/model.ts';
import type { RestoreStep, RestoreVerdict } from '../../core/restore/step.ts';
import { keyOf } from '../../kube/object.ts';
import { done, type Outcome, requeueAfter, waiting } from '../../runtime/outcome.ts';
import type { RestoreContext } from './context.ts';
import type { ObservedRestore } from './observe.ts';

/** Seconds until the next pass. Most objects that a restore waits for are not watched. */
const seconds = { acted: 0.02, moment: 0.2, waiting: 0.5, blocked: 3, mostWithoutService: 2 } as const;

/** The next visit, if the awaited objects are unchanged; undefined if a full pass is needed. */
export async function visitIfUnchanged(
  { intent, memory }: ReadRestore,
  context: RestoreContext,
): Promise<Outcome | undefined> {
  const isUnchanged = await context.awaitedObjects?.isUnchanged(intent, memory.phase, context);
  return isUnchanged === true ? waitIn(memory.phase, secondsIn(memory.phase)) : undefined;
}

/** Waits stay short in the phase `switching`, because no member serves. */
const waitIn = (phase: RestorePhase, afterSeconds: number, waitsFor: string = phase): Outcome =>
  phase === 'switching' ? waiting(waitsFor, afterSeconds, seconds.mostWithoutService) : waiting(waitsFor, afterSeconds);

const secondsIn = (phase: RestorePhase): number => (phase === 'switching' ? seconds.moment : seconds.waiting);

/** Records the awaited objects for the next pass, and whether Secrets must be read again. */
export function recordWait(verdict: RestoreVerdict, observed: ObservedRestore, context: RestoreContext): void {
  const { world } = observed;
  context.awaitedObjects?.record(verdict, observed);
  if (mayNeedOtherSecret(verdict, world)) context.secrets?.invalidate(keyOf(world.intent));
}

/** True if a changed Secret may resolve the wait. */
function mayNeedOtherSecret(verdict: RestoreVerdict, { cluster }: RestoreWorld): boolean {
  if (verdict.is !== 'wait' || verdict.isBlocked === true) return true;
  return typeof cluster !== 'string' && cluster.seed?.isUp === true && cluster.seed.state !== 'ready';
}

/** True if the etcd of the seed runs and is about to serve. */
const isAboutToServe = ({ memory, cluster }: Pick<RestoreWorld, 'memory' | 'cluster'>): boolean =>
  memory.phase === 'seeding' && typeof cluster !== 'string' && cluster.seed?.isUp === true;

/** True if the next step follows a change of the store proxy pod, which a watch reports. */
const awaitsPod = ({ kind }: RestoreStep): boolean => kind === 'start-store-proxy' || kind === 'discard-store-proxy';

export function nextRestoreVisit(verdict: RestoreVerdict, world: Pick<RestoreWorld, 'memory' | 'cluster'>): Outcome {
  const { phase } = world.memory;
  switch (verdict.is) {
    case 'act':
      return awaitsPod(verdict.step) ? waitIn(phase, secondsIn(phase)) : requeueAfter(seconds.acted);
    case 'enter':
      return requeueAfter(seconds.acted);
    case 'wait':
      if (verdict.isBlocked === true) return waitIn(phase, seconds.blocked, `${phase}, blocked`);
      return waitIn(phase, isAboutToServe(world) ? seconds.moment : secondsIn(phase));
    case 'over':
      return done;
    default:
      return verdict satisfies never;
  }
}
