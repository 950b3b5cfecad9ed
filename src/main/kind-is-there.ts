import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';
import { type Clock, pause } from '../runtime/clock.ts';
import { Failure } from '../std/failure.ts';
import type { Log } from './log.ts';
import type { Place } from './places.ts';

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

/** The same for several namespaces: waits until the kind can be listed in one of them. */
export async function whenKindIsSomewhere(
  resource: Resource<KubeObject>,
  { places, ...looking }: Omit<Looking, 'scope'> & { readonly places: readonly Pick<Place, 'namespace'>[] },
  signal: AbortSignal,
): Promise<boolean> {
  const found = new AbortController();
  const ends = AbortSignal.any([signal, found.signal]);
  const each = places.map(async ({ namespace: scope }) => {
    if (await whenKindIsThere(resource, { ...looking, scope }, ends)) found.abort();
  });
  await Promise.all(each);
  return found.signal.aborted && !signal.aborted;
}
