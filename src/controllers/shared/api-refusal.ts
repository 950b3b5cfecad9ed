import { requeueAround } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure, type FailureKind } from '../../std/failure.ts';
import type { ControllerContext } from './context.ts';

const refusals: ReadonlySet<FailureKind> = new Set(['forbidden', 'rejected', 'not-found']);

/**
 * Returns the message of the API server if it refuses a request; undefined if it accepts. The cause is a quota, a
 * policy, a missing right or a missing ServiceAccount. A correction by a user causes no watch event.
 */
export const refusalMessage = (work: Promise<void>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (thrown: unknown) => {
      const { kind, message } = Failure.from(thrown);
      if (!refusals.has(kind)) throw thrown;
      return message;
    },
  );

const retrySeconds = 60;

/** Retries a rejected pass after a minute: a correction by a user may cause no watch event. */
export const retryRejected =
  (reconcile: Reconcile<string>, { log }: Pick<ControllerContext, 'log'>): Reconcile<string> =>
  (key, signal) =>
    reconcile(key, signal).catch((thrown: unknown) => {
      const { kind, message } = Failure.from(thrown);
      if (kind !== 'rejected') throw thrown;
      log('warn', 'pass rejected, retrying later', { key, detail: message });
      return requeueAround(retrySeconds);
    });
