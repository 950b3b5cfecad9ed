import { ApiFailure } from '../../kube/errors.ts';
import type { Stored } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import type { ClusterObject, Tools } from './sources.ts';

/** What an Event tells already, in words of its own. */
export class ToldFailure extends Failure {}

/** `failure`: what kept a pass from its steps. `aside`: what did not, and is no less in need of somebody. */
export interface Trouble {
  readonly failure?: Failure | undefined;
  readonly aside?: Failure | undefined;
}

/** That a step failed is news for the status, not a reason to leave the status unwritten. */
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

/** Does all of it, whatever fails, and then fails with the first failure; one that needs a person goes before others. */
export async function inTurn<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const failures: Failure[] = [];
  for (const item of items) {
    const failure = await failureOf(work(item));
    if (failure !== undefined) failures.push(failure);
  }
  const worst = failures.find(({ kind }) => kind === 'rejected') ?? failures[0];
  if (worst !== undefined) throw worst;
}

/**
 * What etcd asks us to do again later is no failure: it wants five seconds between two changes. Nor is it one that somebody
 * wrote first. But an API server that cannot do what it is asked is waited for longer each time, and what it says is told:
 * it may be a webhook that nobody but a person brings back.
 */
export const isNotNow = (failure: Failure): boolean =>
  failure.kind === 'conflict' || (failure.kind === 'unreachable' && !(failure instanceof ApiFailure));

/** What of it needs somebody, rather than a little time. */
export function worthTelling({ failure, aside }: Trouble): Trouble {
  const unlessNotNow = (each: Failure | undefined) => (each && !isNotNow(each) ? each : undefined);
  return { failure: unlessNotNow(failure), aside: unlessNotNow(aside) };
}

/** In an Event as in the status: a pod that the API server refuses is nobody else's to tell. */
export function tellTrouble(object: Stored<ClusterObject>, trouble: Trouble, { tell }: Pick<Tools, 'tell'>): void {
  const { failure, aside } = worthTelling(trouble);
  for (const each of [failure, aside]) {
    if (each !== undefined && !(each instanceof ToldFailure))
      tell(object, { type: 'Warning', reason: 'StepFailed', message: each.message });
  }
}
