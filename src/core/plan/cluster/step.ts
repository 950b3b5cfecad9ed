import type { Due } from '../../certificates/due.ts';
import type { Stage } from '../../certificates/staging.ts';
import type { Bootstrap, ClusterWorld } from '../../model/cluster.ts';
import type { CarrierName, MemberId } from '../../model/names.ts';
import type { Reason } from '../../reasons.ts';

/** How a carrier's etcd is told about its cluster. It matters only while its disk is empty. */
export type Join =
  | { readonly as: 'founder'; readonly of: Bootstrap }
  | { readonly as: 'newcomer'; readonly among: readonly Peer[] }
  /** It has been a member before: with its data it goes on, without it refuses to start. */
  | { readonly as: 'returner' };

export interface Peer {
  readonly name: CarrierName;
  readonly peerURL: string;
}

/** Everything this operator can do to a cluster. If it is not here, we cannot do it. */
export type Step =
  | { readonly kind: 'remember-bootstrap'; readonly bootstrap: Bootstrap }
  | { readonly kind: 'remember-formation'; readonly clusterId: string }
  /** Whoever would make its body again lets go of it; the body stays as it is. */
  | { readonly kind: 'release-carrier'; readonly name: CarrierName; readonly uid: string }
  /** A body that another operator has made becomes ours, as it is. */
  | { readonly kind: 'adopt-carrier'; readonly name: CarrierName; readonly uid: string }
  | { readonly kind: 'issue-certificates'; readonly due: Exclude<Due, 'nothing'> }
  | { readonly kind: 'stage-certificates'; readonly stage: Stage | 'publish' }
  /** Deletes Secrets that we kept for encryption which is no more. */
  | { readonly kind: 'drop-secrets'; readonly names: readonly string[] }
  | {
      readonly kind: 'start-carrier';
      readonly name: CarrierName;
      readonly join: Join;
      readonly version: string;
      /** Members that it takes the place of, with others that join later. */
      readonly leaving?: readonly CarrierName[];
    }
  | { readonly kind: 'seal-carrier'; readonly name: CarrierName; readonly uid: string }
  /** Deletes the pod and keeps the disk. */
  | { readonly kind: 'stop-carrier'; readonly name: CarrierName; readonly uid: string }
  /** Deletes the pod and keeps the volume for its grace time, if any: only ever for a name that is not in etcd's list. */
  | { readonly kind: 'discard-carrier'; readonly name: CarrierName; readonly uid: string }
  /** Deletes the PVC of a removed member, after its grace time. */
  | { readonly kind: 'delete-volume'; readonly claim: string; readonly uid: string; readonly member: CarrierName }
  /** Its container starts again with another image, in the same pod, and so with its data. */
  | {
      readonly kind: 'change-image';
      readonly name: CarrierName;
      readonly uid: string;
      readonly from: string;
      readonly to: string;
    }
  /** In place of one of that name that is of no use any more. */
  | { readonly kind: 'make-backup'; readonly name: string; readonly version: string }
  | { readonly kind: 'relabel-carrier'; readonly name: CarrierName; readonly uid: string }
  | { readonly kind: 'move-leader'; readonly id: MemberId; readonly name: CarrierName }
  /** Tells the others where a member will be found when it comes back. */
  | { readonly kind: 'update-peer-url'; readonly id: MemberId; readonly name: CarrierName }
  | { readonly kind: 'enable-downgrade'; readonly version: string }
  | { readonly kind: 'cancel-downgrade' }
  | { readonly kind: 'add-member'; readonly name: CarrierName; readonly as: 'learner' | 'voter' }
  | { readonly kind: 'promote-member'; readonly id: MemberId; readonly name: CarrierName }
  | {
      readonly kind: 'remove-member';
      readonly id: MemberId;
      readonly name: CarrierName;
      readonly because: 'dead' | 'surplus' | 'outdated';
    };

export type Verdict =
  /** Several steps only where none of them can disturb: starting founders, sealing carriers, taking them over. */
  | { readonly is: 'act'; readonly steps: readonly Step[]; readonly reason: Reason; readonly message: string }
  | { readonly is: 'wait'; readonly reason: Reason; readonly message: string; readonly needsPerson?: true }
  | { readonly is: 'settled' };

/** One decision. `undefined` means: not my business, ask the next rule. */
export type Rule = (world: ClusterWorld) => Verdict | undefined;

export const act = (reason: Reason, message: string, ...steps: readonly Step[]): Verdict => ({
  is: 'act',
  steps,
  reason,
  message,
});

export const wait = (reason: Reason, message: string): Verdict => ({ is: 'wait', reason, message });

/** Waiting for something that only a person can decide or repair. */
export const waitForPerson = (reason: Reason, message: string): Verdict => ({
  is: 'wait',
  reason,
  message,
  needsPerson: true,
});
