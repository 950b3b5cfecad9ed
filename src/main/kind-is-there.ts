import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import { type Clock, pause } from '../runtime/clock.ts';
import { Failure } from '../std/failure.ts';
import type { Log } from './log.ts';

const everyMillis = 15_000;

export interface Looking {
  readonly client: Pick<KubeClient, 'list'>;
  /** Without it, all namespaces. */
  readonly scope: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Waits until the API server knows a kind whose definition not everybody installs; false if `signal` aborted before. */
export async function whenKindIsThere(
  resource: Resource<KubeObject>,
  { client, scope, clock, log }: Looking,
  signal: AbortSignal,
): Promise<boolean> {
  for (let isTold = false; !signal.aborted; isTold = true) {
    const trouble = await client.list(resource, { namespace: scope, limit: 1, enough: 1, signal }).then(
      () => undefined,
      (thrown: unknown) => Failure.from(thrown),
    );
    if (trouble === undefined) return true;
    if (!isTold && !signal.aborted)
      log.info({ kind: resource.kind, detail: trouble.message }, 'not looked after until it can be listed');
    await pause(clock, everyMillis, signal);
  }
  return false;
}
