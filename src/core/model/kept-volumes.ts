import type { ClusterIntent } from './intent.ts';
import type { CarrierName } from './names.ts';

/** The PVC of a member that was removed. No member uses it again. It is deleted when its grace time is over. */
export interface KeptVolume {
  readonly claim: string;
  readonly uid: string;
  readonly member: CarrierName;
  /** When an operator noted that the member was removed, in milliseconds of that operator's clock. */
  readonly removedAt: number | undefined;
  readonly isMounted: boolean;
  /** It has been deleted already, and goes when Kubernetes lets go of it. */
  readonly isLeaving: boolean;
  /** For how long, and in how many passes, this operator has watched it be kept, by its own clock. */
  readonly watched: { readonly millis: number; readonly looks: number };
}

/** What a user is told of it. */
export interface KeptUntil {
  readonly claim: string;
  readonly member: CarrierName;
  readonly until: number | undefined;
}

/** The last time that a Date can hold. Users can write any time into the annotation of a PVC. */
const lastTime = 8.64e15;

export const untilOf = ({ removedAt }: KeptVolume, { keepVolumesSeconds }: Keeping): number | undefined =>
  removedAt === undefined ? undefined : Math.min(removedAt + keepVolumesSeconds * 1000, lastTime);

type Keeping = Pick<ClusterIntent, 'keepVolumesSeconds'>;

/** For how long an operator watches a volume itself before it believes a time that another machine may have written down. */
const ownWatchMillis = 300_000;
/** One look is no watch. */
const fewestLooks = 2;

/**
 * Whether the grace time is over. Either this operator has watched all of it, by its own clock; or the time of day says so,
 * after a restart for example, and this operator has watched for some minutes at least. So an operator with a wrong clock can
 * shorten the grace time to these minutes, and no further.
 */
export function isOver(volume: KeptVolume, now: number, intent: Keeping): boolean {
  const { millis, looks } = volume.watched;
  const grace = intent.keepVolumesSeconds * 1000;
  const until = untilOf(volume, intent);
  if (looks < fewestLooks) return false;
  return millis >= grace || (until !== undefined && now >= until && millis >= Math.min(grace, ownWatchMillis));
}
