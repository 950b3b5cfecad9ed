import type { ClusterIntent } from './intent.ts';
import type { MemberName } from './names.ts';

/** The PVC of a removed member. No member uses it again. It is deleted after its grace time. */
export interface KeptVolume {
  readonly claim: string;
  readonly uid: string;
  readonly member: MemberName;
  /** When an operator recorded the removal, in milliseconds by that operator's clock. */
  readonly removedAt: number | undefined;
  readonly isMounted: boolean;
  /** True if the PVC is terminating. */
  readonly isLeaving: boolean;
  /** How long, and in how many passes, this operator has observed the retained PVC, by its own clock. */
  readonly watched: { readonly millis: number; readonly observations: number };
}

/** A retained PVC as the status reports it. */
export interface KeptUntil {
  readonly claim: string;
  readonly member: MemberName;
  readonly until: number | undefined;
}

/** The maximum time of a Date. Users can write any time into the annotation of a PVC. */
const lastTime = 8.64e15;

export const untilOf = ({ removedAt }: KeptVolume, { keepVolumesSeconds }: Keeping): number | undefined =>
  removedAt === undefined ? undefined : Math.min(removedAt + keepVolumesSeconds * 1000, lastTime);

type Keeping = Pick<ClusterIntent, 'keepVolumesSeconds'>;

/** How long an operator observes a PVC itself before it trusts a timestamp of another machine. */
const ownWatchMillis = 300_000;
/** A single observation has no duration. */
const fewestObservations = 2;

/**
 * True if the grace time is over. Either this operator has observed the PVC for the whole grace time, by its own clock.
 * Or the timestamp has passed, for example after a restart, and this operator has observed the PVC for at least five
 * minutes. An operator with a wrong clock can shorten the grace time to these five minutes, and no further.
 */
export function isOver(volume: KeptVolume, now: number, intent: Keeping): boolean {
  const { millis, observations } = volume.watched;
  const grace = intent.keepVolumesSeconds * 1000;
  const until = untilOf(volume, intent);
  if (observations < fewestObservations) return false;
  return millis >= grace || (until !== undefined && now >= until && millis >= Math.min(grace, ownWatchMillis));
}
