import type { KubeClient } from '../../kube/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { type Clock, pause } from '../../runtime/clock.ts';
import { Failure } from '../../std/failure.ts';
import type { Place } from '../places.ts';
import type { Log } from '../telemetry/log.ts';

const everyMillis = 15_000;

export interface KindLookup {
  readonly client: Pick<KubeClient, 'list'>;
  /** Undefined for all namespaces. */
  readonly scope: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Waits until a kind with an optional CRD can be listed; false if `signal` aborts first. */
export async function waitForKind(
  resource: Resource<KubeObject>,
  { client, scope, clock, log }: KindLookup,
  signal: AbortSignal,
): Promise<boolean> {
  for (let isLogged = false; !signal.aborted; isLogged = true) {
    const failure = await client.list(resource, { namespace: scope, limit: 1, enough: 1, signal }).then(
      () => undefined,
      (thrown: unknown) => Failure.from(thrown),
    );
    if (failure === undefined) return true;
    if (!isLogged && !signal.aborted)
      log.info({ kind: resource.kind, failure: failure.message }, 'waiting until kind can be listed');
    await pause(clock, everyMillis, signal);
  }
  return false;
}

/** The same for several namespaces: waits until the kind can be listed in one of them. */
export async function waitForKindInAny(
  resource: Resource<KubeObject>,
  { places, ...lookup }: Omit<KindLookup, 'scope'> & { readonly places: readonly Pick<Place, 'namespace'>[] },
  signal: AbortSignal,
): Promise<boolean> {
  const found = new AbortController();
  const ends = AbortSignal.any([signal, found.signal]);
  const each = places.map(async ({ namespace: scope }) => {
    if (await waitForKind(resource, { ...lookup, scope }, ends)) found.abort();
  });
  await Promise.all(each);
  return found.signal.aborted && !signal.aborted;
}
