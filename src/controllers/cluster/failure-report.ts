import { ApiFailure } from '../../kube/errors.ts';
import type { Stored } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import type { ClusterObject, ControllerContext } from '../shared/context.ts';

/** A failure that has an Event of its own already. */
export class ReportedFailure extends Failure {}

/** `failure` stopped the steps of a pass. `aside` did not stop the steps, but needs user action too. */
export interface Trouble {
  readonly failure?: Failure | undefined;
  readonly aside?: Failure | undefined;
}

/** Returns the failure instead of throwing it: the status is written after a failed step too. */
export const troubleIn = (work: Promise<Failure | undefined>): Promise<Trouble> =>
  work.then(
    (aside) => ({ aside }),
    (thrown: unknown) => ({ failure: Failure.from(thrown) }),
  );

export const failureOf = (work: Promise<void>): Promise<Failure | undefined> =>
  work.then(
    () => undefined,
    (thrown: unknown) => Failure.from(thrown),
  );

/** The first failure of several. A failure that needs user action takes precedence. */
export const worstOf = (failures: readonly Failure[]): Failure | undefined =>
  failures.find(({ kind }) => kind === 'rejected') ?? failures[0];

/** Works on all items, then throws the worst failure. */
export async function inTurn<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const failures: Failure[] = [];
  for (const item of items) {
    const failure = await failureOf(work(item));
    if (failure !== undefined) failures.push(failure);
  }
  const worst = worstOf(failures);
  if (worst !== undefined) throw worst;
}

/**
 * True for failures that pass without user action: a conflict with another write, or an etcd that asks for a later
 * retry (etcd wants five seconds between two membership changes). An unreachable API server is reported: the cause may
 * be a webhook.
 */
export const isTransient = (failure: Failure): boolean =>
  failure.kind === 'conflict' || (failure.kind === 'unreachable' && !(failure instanceof ApiFailure));

/** Keeps failures that need user action; drops transient ones. */
export function failuresToReport({ failure, aside }: Trouble): Trouble {
  const unlessTransient = (each: Failure | undefined) => (each && !isTransient(each) ? each : undefined);
  return { failure: unlessTransient(failure), aside: unlessTransient(aside) };
}

/** Records failures as Warning Events, for example a pod that the API server refuses. */
export function reportFailure(
  object: Stored<ClusterObject>,
  trouble: Trouble,
  { recordEvent }: Pick<ControllerContext, 'recordEvent'>,
): void {
  const { failure, aside } = failuresToReport(trouble);
  for (const each of [failure, aside]) {
    if (each !== undefined && !(each instanceof ReportedFailure))
      recordEvent(object, { type: 'Warning', reason: 'StepFailed', message: each.message });
  }
}
