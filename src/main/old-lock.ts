import type { OldLockPlace } from '../dialects/dialect.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import { namespaced } from '../kube/resource.ts';
import { type Clock, pause } from '../runtime/clock.ts';
import { Failure } from '../std/failure.ts';
import type { Log } from './log.ts';
import { untilAnswered } from './until-answered.ts';

/** Where both originals say on their lock who holds it. */
const annotation = 'control-plane.alpha.kubernetes.io/leader';
const checkMillis = 2_000;

export interface OldLock {
  readonly client: Pick<KubeClient, 'get'>;
  readonly namespace: string;
  readonly place: OldLockPlace;
  readonly clock: Clock;
  readonly log: Log;
}

/** Whoever had given the original's lock another name gives the same flag to ours; by default it is under its own name. */
export const placesOf = (place: OldLockPlace, lease: string | undefined): readonly OldLockPlace[] =>
  place.isNamedByFlag === true && lease !== undefined && lease !== place.name
    ? [place, { ...place, name: lease }]
    : [place];

/** The locks of original operators in one namespace, and what this operator may not read there. */
export interface OldLocks {
  readonly namespace: string | undefined;
  readonly lacks: ReadonlySet<string>;
  readonly locks: readonly (OldLockPlace | undefined)[];
}

interface Waiting extends Pick<OldLock, 'client' | 'clock' | 'log'> {
  readonly lease: string | undefined;
}

/** Waits until no original operator holds a lock in the namespace. */
export async function outlastOldLocks(
  { namespace, lacks, locks }: OldLocks,
  { lease, ...waiting }: Waiting,
  signal: AbortSignal,
): Promise<void> {
  if (namespace === undefined) return;
  const readable = locks.flatMap((each) => (each === undefined || lacks.has(each.plural) ? [] : placesOf(each, lease)));
  for (const place of readable) await waitForOldLock({ ...waiting, namespace, place }, signal);
}

interface Held {
  readonly by: string;
  readonly renewed: string;
  readonly seconds: number;
}

/**
 * Two operators of different making know nothing of each other's locks, and would replace each other's members. Ours waits
 * until the original's lock has not been renewed for as long as it is good for, by our own clock. A lock that cannot be read
 * counts as held.
 */
export async function waitForOldLock(lock: OldLock, signal: AbortSignal): Promise<void> {
  const { clock, log } = lock;
  let seen: { readonly renewed: string; readonly at: number } | undefined;
  const onTrouble = ({ message: failure }: Failure): void =>
    log.warn({ failure }, 'cannot read the lock of an original etcd-operator: asking again until it can be read');
  while (!signal.aborted) {
    const held = await untilAnswered(() => lockOf(lock, signal), { clock, onTrouble }, signal);
    if (held === undefined) return;
    if (seen === undefined) log.warn({ by: held.by }, 'waiting for the lock of an original etcd-operator to run out');
    if (seen?.renewed !== held.renewed) seen = { renewed: held.renewed, at: clock.monotonic() };
    if (clock.monotonic() - seen.at >= held.seconds * 1000) return;
    await pause(clock, checkMillis, signal);
  }
}

async function lockOf({ client, namespace, place }: OldLock, signal: AbortSignal): Promise<Held | undefined> {
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

/** What the annotation says, if it says that somebody holds the lock. */
function heldIn(text: string): Held | undefined {
  try {
    const { holderIdentity, renewTime, leaseDurationSeconds } = JSON.parse(text) as Record<string, unknown>;
    if (typeof holderIdentity !== 'string' || holderIdentity === '') return undefined;
    return { by: holderIdentity, renewed: String(renewTime), seconds: Number(leaseDurationSeconds) || 15 };
  } catch {
    return undefined; // no lock, or none that we could wait for
  }
}
