import type { Failure } from '../../../std/failure.ts';
import type { MemberName } from './names.ts';

type StringMap = Readonly<Record<string, string>>;

/** An object as the API server stores it: the parts that upkeep compares. */
export interface LiveObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: StringMap | undefined;
    readonly annotations?: StringMap | undefined;
    readonly ownerReferences?: readonly LiveOwner[] | undefined;
    readonly finalizers?: readonly string[] | undefined;
    readonly deletionTimestamp?: string | undefined;
  };
  readonly spec?: unknown;
}

interface LiveOwner {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** The PVC of a member. */
export interface LiveClaim {
  readonly object: LiveObject;
  /** True if the PVC is bound, so that it can be resized. */
  readonly hasVolume: boolean;
  /** True if the PVC requests less storage than the spec. */
  readonly isTooSmall: boolean;
}

/** A pod or PVC of a member. */
export interface MemberObject {
  readonly of: 'Pod' | 'PersistentVolumeClaim';
  readonly object: LiveObject;
  readonly member: MemberName;
}

/** Why the PVC of a member could not be read. */
export interface UnreadObject {
  readonly unread: Failure;
}
