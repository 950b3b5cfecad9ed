import { around } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure, type FailureKind } from '../../std/failure.ts';
import type { Tools } from '../cluster/sources.ts';

const refusals: ReadonlySet<FailureKind> = new Set(['forbidden', 'rejected', 'not-found']);

/**
 * What the API server says when it does not let us create something; nothing if it does. A quota, a policy, a right or an
 * account that is missing can be put right by others, and nobody tells us.
 */
export const refusalBy = (work: Promise<void>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (thrown: unknown) => {
      const { kind, message } = Failure.from(thrown);
      if (!refusals.has(kind)) throw thrown;
      return message;
    },
  );

const secondsUntilAskedAgain = 60;

/** What was refused in any other way is tried again too, though not soon: it may have been put right without an event. */
export const askingAgain =
  (reconcile: Reconcile<string>, { log }: Pick<Tools, 'log'>): Reconcile<string> =>
  (key, signal) =>
    reconcile(key, signal).catch((thrown: unknown) => {
      const { kind, message } = Failure.from(thrown);
      if (kind !== 'rejected') throw thrown;
      log('warn', 'a pass was refused, and is tried again later', { key, detail: message });
      return around(secondsUntilAskedAgain);
    });
