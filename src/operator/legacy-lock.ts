import type { LegacyLockObject } from '../apis/common/dialect.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import { namespaced } from '../kube/resource.ts';
import { type Clock, pause } from '../runtime/clock.ts';
import { Failure } from '../std/failure.ts';
import type { Log } from './telemetry/log.ts';
import { untilAnswered } from './until-answered.ts';

/** The annotation with the lock holder, in both originals. */
const annotation = 'control-plane.alpha.kubernetes.io/leader';
const checkMillis = 2_000;

export interface LegacyLockWait {
  readonly client: Pick<KubeClient, 'get'>;
  readonly namespace: string;
  readonly place: LegacyLockObject;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The objects that may be the original's lock: its default name, and the name of our Lease if the original had that
 * flag.
 */
export const lockObjects = (place: LegacyLockObject, lease: string | undefined): readonly LegacyLockObject[] =>
  place.isNamedByFlag === true && lease !== undefined && lease !== place.name
    ? [place, { ...place, name: lease }]
    : [place];

/** The locks of original operators in one namespace, and the resources that the operator may not read there. */
export interface LegacyLocks {
  readonly namespace: string | undefined;
  readonly lacks: ReadonlySet<string>;
  readonly locks: readonly (LegacyLockObject | undefined)[];
}

interface Waiting extends Pick<LegacyLockWait, 'client' | 'clock' | 'log'> {
  readonly lease: string | undefined;
}

/** Waits until no original operator holds a lock in the namespace. */
export async function waitForLegacyLocks(
  { namespace, lacks, locks }: LegacyLocks,
  { lease, ...waiting }: Waiting,
  signal: AbortSignal,
): Promise<void> {
  if (namespace === undefined) return;
  const readable = locks.flatMap((each) =>
    each === undefined || lacks.has(each.plural) ? [] : lockObjects(each, lease),
  );
  for (const place of readable) await waitForLegacyLock({ ...waiting, namespace, place }, signal);
}

interface Held {
  readonly by: string;
  readonly renewed: string;
  readonly seconds: number;
}

/**
 * An original operator and this one use different locks and would replace each other's members. So this operator waits
 * until the original's lock was not renewed for its lease duration, measured by the local clock.
 * A lock that cannot be read counts as held.
 */
export async function waitForLegacyLock(lock: LegacyLockWait, signal: AbortSignal): Promise<void> {
  const { clock, log } = lock;
  let seen: { readonly renewed: string; readonly at: number } | undefined;
  const onFailure = ({ message: failure }: Failure): void =>
    log.warn({ failure }, 'cannot read the lock of an original etcd-operator: retrying');
  while (!signal.aborted) {
    const held = await untilAnswered(() => lockOf(lock, signal), { clock, onFailure }, signal);
    if (held === undefined) return;
    if (seen === undefined)
      log.warn({ holder: held.by }, 'waiting for the lock of an original etcd-operator to expire');
    if (seen?.renewed !== held.renewed) seen = { renewed: held.renewed, at: clock.monotonic() };
    if (clock.monotonic() - seen.at >= held.seconds * 1000) return;
    await pause(clock, checkMillis, signal);
  }
}

async function lockOf({ client, namespace, place }: LegacyLockWait, signal: AbortSignal): Promise<Held | undefined> {
  const { plural, kind: kindOfLock, name } = place;
  const resource = namespaced<KubeObject>({ group: '', version: 'v1', plural, kind: kindOfLock });
  try {
    const { metadata } = await client.get(resource, { namespace, name }, { signal });
    return heldIn(metadata.annotations?.[annotation] ?? '');
  } catch (thrown) {
    const { kind } = Failure.from(thrown);
    if (kind === 'not-found' || kind === 'forbidden') return undefined;
    throw thrown;
  }
}

/** The holder in the annotation; undefined if the lock is free. */
function heldIn(text: string): Held | undefined {
  try {
    const { holderIdentity, renewTime, leaseDurationSeconds } = JSON.parse(text) as Record<string, unknown>;
    if (typeof holderIdentity !== 'string' || holderIdentity === '') return undefined;
    return { by: holderIdentity, renewed: String(renewTime), seconds: Number(leaseDurationSeconds) || 15 };
  } catch {
    return undefined; // not a valid lock
  }
}
