import type { Caller, CallOptions } from './call.ts';
import { EtcdFailure, isRefusal } from './errors.ts';
import { Cluster, KV, Maintenance } from './gen/etcd_pb.ts';
import { type EtcdMember, type MemberId, memberOf, membersOf } from './types.ts';

/**
 * The membership API. Every change needs a quorum. No change returns the new member list, because 3.1 does not send it:
 * call memberList.
 */
export interface MembershipCalls {
  /**
   * By default linearizable: needs a quorum, and is up to date. Otherwise the list of this one member, which may be
   * outdated. `isConfirmed`: the member is 3.5 or newer, and makes the list linearizable by itself.
   */
  readonly memberList: (options?: CallOptions & ListOptions) => Promise<readonly EtcdMember[]>;
  /** Before 3.4, adding a learner fails as `not-supported` and adds nothing. */
  readonly memberAdd: (
    peerURLs: readonly string[],
    options: CallOptions & { readonly learner: boolean },
  ) => Promise<EtcdMember>;
  readonly memberRemove: (id: MemberId, options?: CallOptions) => Promise<void>;
  /** Before 3.5.31 and 3.6.12, updating a learner silently promotes it. */
  readonly memberUpdate: (id: MemberId, peerURLs: readonly string[], options?: CallOptions) => Promise<void>;
  /** Send to the leader: before 3.5.28 and 3.6.6 a follower cannot forward it if authentication is enabled. */
  readonly memberPromote: (id: MemberId, options?: CallOptions) => Promise<void>;
  /** A linearizable read without a result. Its success proves that the cluster has quorum. */
  readonly linearizableRead: (options?: CallOptions) => Promise<void>;
}

interface ListOptions {
  readonly linearizable?: boolean;
  readonly isConfirmed?: boolean;
}

export function membershipCalls(caller: Caller): MembershipCalls {
  const { memberList, memberAdd, memberRemove, memberUpdate, memberPromote } = Cluster.method;
  const linearizableRead: MembershipCalls['linearizableRead'] = (options) => readWithQuorum(caller, options);
  return {
    linearizableRead,
    memberList: async ({ linearizable = true, isConfirmed = false, ...options } = {}) => {
      // Before 3.5 etcd ignores `linearizable` for this call. A linearizable read first brings the member up to date.
      if (linearizable && !isConfirmed) await linearizableRead(options);
      const answer = await caller.ask(memberList, { linearizable }, options);
      return membersOf(answer.members);
    },
    memberAdd: async (peerURLs, { learner, ...options }) => {
      if (learner) await assertLearnerSupport(caller, options);
      const { member } = await caller.ask(memberAdd, { peerUrls: [...peerURLs], isLearner: learner }, options);
      if (member !== undefined) return memberOf(member);
      throw new EtcdFailure('unreachable', 'etcd added a member but did not return its ID', { mayBeDone: true });
    },
    memberRemove: async (id, options) => {
      await caller.ask(memberRemove, { id }, options);
    },
    memberUpdate: async (id, peerURLs, options) => {
      await caller.ask(memberUpdate, { id, peerUrls: [...peerURLs] }, options);
    },
    memberPromote: async (id, options) => {
      await caller.ask(memberPromote, { id }, options);
    },
  };
}

/** Etcd before 3.4 ignores `isLearner` and would add a voter. */
async function assertLearnerSupport(caller: Caller, options: CallOptions): Promise<void> {
  const { version } = await caller.ask(Maintenance.method.status, {}, options);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 3 || (major === 3 && minor >= 4)) return;
  throw new EtcdFailure('rejected', `etcd ${version} has no learners`, { refusal: 'not-supported', mayBeDone: false });
}

/** A denied permission also proves quorum: etcd checks it after the linearizable read. */
async function readWithQuorum(caller: Caller, options?: CallOptions): Promise<void> {
  try {
    await caller.ask(KV.method.range, { key: new TextEncoder().encode('health'), countOnly: true }, options);
  } catch (thrown) {
    if (!isRefusal(thrown, 'permission-denied')) throw thrown;
  }
}
