import type { Due } from '../../pki/due.ts';
import type { Stage } from '../../pki/staging.ts';
import type { Reason } from '../../reasons.ts';
import type { Bootstrap, ClusterWorld } from '../model/cluster.ts';
import type { MemberId, MemberName } from '../model/names.ts';
import type { UpkeepStep } from './upkeep/step.ts';

/** How a member pod joins its cluster. etcd uses it only while the volume is empty. */
export type Join =
  | { readonly as: 'bootstrap'; readonly of: Bootstrap }
  | { readonly as: 'joining'; readonly among: readonly Peer[] }
  /** The member has joined before. With its data it goes on; without its data it refuses to start. */
  | { readonly as: 'restarting' };

export interface Peer {
  readonly name: MemberName;
  readonly peerURL: string;
}

/** Everything that the operator can do to a cluster. What is no step cannot be done. */
export type Step = MemberStep | UpkeepStep;

/** A step of a verdict. */
export type MemberStep =
  | { readonly kind: 'record-bootstrap'; readonly bootstrap: Bootstrap }
  | { readonly kind: 'record-formation'; readonly clusterId: string }
  /** Deletes the ReplicaSet of a member and orphans its pod, which keeps running. */
  | { readonly kind: 'release-member-pod'; readonly name: MemberName; readonly uid: string }
  /** Takes ownership of a pod that another operator created, without a restart. */
  | { readonly kind: 'adopt-member-pod'; readonly name: MemberName; readonly uid: string }
  | { readonly kind: 'issue-certificates'; readonly due: Exclude<Due, 'nothing'> }
  | { readonly kind: 'stage-certificates'; readonly stage: Stage | 'publish' }
  /** Deletes Secrets of ours after TLS was switched off. */
  | { readonly kind: 'drop-secrets'; readonly names: readonly string[] }
  | {
      readonly kind: 'start-member-pod';
      readonly name: MemberName;
      readonly join: Join;
      readonly version: string;
      /** Members that are removed once their replacements have joined. Scheduling ignores their pods. */
      readonly leaving?: readonly MemberName[];
    }
  | { readonly kind: 'forbid-rebootstrap'; readonly name: MemberName; readonly uid: string }
  /** Deletes the pod and keeps the PVC. */
  | { readonly kind: 'stop-member-pod'; readonly name: MemberName; readonly uid: string }
  /** Deletes the pod and keeps the PVC for its grace time. Only for names that are not in etcd's member list. */
  | { readonly kind: 'delete-member-pod'; readonly name: MemberName; readonly uid: string }
  /** Deletes the PVC of a removed member, after its grace time. */
  | { readonly kind: 'delete-volume'; readonly claim: string; readonly uid: string; readonly member: MemberName }
  /** Changes the image of a running pod. The container restarts in the same pod, with its data. */
  | {
      readonly kind: 'change-image';
      readonly name: MemberName;
      readonly uid: string;
      readonly from: string;
      readonly to: string;
    }
  /** Creates the pre-upgrade backup, in place of a stale backup of the same name. */
  | { readonly kind: 'make-backup'; readonly name: string; readonly version: string }
  | { readonly kind: 'relabel-member-pod'; readonly name: MemberName; readonly uid: string }
  | { readonly kind: 'transfer-leadership'; readonly id: MemberId; readonly name: MemberName }
  /** Registers the future peer URL of a member in etcd (MemberUpdate), before its pod is restarted. */
  | { readonly kind: 'update-peer-url'; readonly id: MemberId; readonly name: MemberName }
  | { readonly kind: 'enable-downgrade'; readonly version: string }
  | { readonly kind: 'cancel-downgrade' }
  | { readonly kind: 'add-member'; readonly name: MemberName; readonly as: 'learner' | 'voter' }
  | { readonly kind: 'promote-member'; readonly id: MemberId; readonly name: MemberName }
  | {
      readonly kind: 'remove-member';
      readonly id: MemberId;
      readonly name: MemberName;
      readonly because: 'dead' | 'surplus' | 'outdated';
    };

export type Verdict =
  /**
   * Several steps only if none of them disrupts: starting bootstrap members, forbidding re-bootstrap, adopting pods.
   */
  | { readonly is: 'act'; readonly steps: readonly MemberStep[]; readonly reason: Reason; readonly message: string }
  | {
      readonly is: 'wait';
      readonly reason: Reason;
      readonly message: string;
      readonly needsUserAction?: true;
      /** A member that is about to stop, and leaves the client Service first. */
      readonly withdraws?: MemberName;
    }
  | { readonly is: 'settled' };

/** One decision. `undefined` passes the decision to the next rule. `Rule<KnownWorld>`: needs etcd's membership. */
export type Rule<World extends ClusterWorld = ClusterWorld> = (world: World) => Verdict | undefined;

export const act = (reason: Reason, message: string, ...steps: readonly MemberStep[]): Verdict => ({
  is: 'act',
  steps,
  reason,
  message,
});

export const wait = (reason: Reason, message: string): Verdict => ({ is: 'wait', reason, message });

/** Waits for a decision or a repair by a user. */
export const waitForUser = (reason: Reason, message: string): Verdict => ({
  is: 'wait',
  reason,
  message,
  needsUserAction: true,
});
