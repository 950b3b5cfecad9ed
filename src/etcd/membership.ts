import type { Caller, CallOptions } from './call.ts';
import { EtcdFailure, isRefusal } from './errors.ts';
import { Cluster, KV, Maintenance } from './gen/etcd_pb.ts';
import { type EtcdMember, type MemberId, memberOf, membersOf } from './words.ts';

/**
 * Who belongs to the cluster. Every change takes a majority. None gives the list as it is afterwards, because 3.1 does not
 * send it: ask for it.
 */
export interface Membership {
  /**
   * Linearizable unless told otherwise: then it takes a majority, and is up to date. Otherwise it is what this one member
   * knows, which may be long past.
   */
  readonly memberList: (options?: CallOptions & { readonly linearizable?: boolean }) => Promise<readonly EtcdMember[]>;
  /** Asking for a learner where etcd has none (before 3.4) fails as `not-supported`, and adds nothing. */
  readonly memberAdd: (
    peerURLs: readonly string[],
    options: CallOptions & { readonly learner: boolean },
  ) => Promise<EtcdMember>;
  readonly memberRemove: (id: MemberId, options?: CallOptions) => Promise<void>;
  /** Before 3.5.31 and 3.6.12, doing this to a learner silently makes it a voter. */
  readonly memberUpdate: (id: MemberId, peerURLs: readonly string[], options?: CallOptions) => Promise<void>;
  /** Best asked of the leader: before 3.5.28 and 3.6.6 a follower cannot pass it on where there are users. */
  readonly memberPromote: (id: MemberId, options?: CallOptions) => Promise<void>;
  /** Reads what a majority agrees on, and gives nothing: that it comes back at all is the proof that there is a majority. */
  readonly linearizableRead: (options?: CallOptions) => Promise<void>;
}

export function membershipOf(caller: Caller): Membership {
  const { memberList, memberAdd, memberRemove, memberUpdate, memberPromote } = Cluster.method;
  const linearizableRead: Membership['linearizableRead'] = (options) => readWithMajority(caller, options);
  return {
    linearizableRead,
    memberList: async ({ linearizable = true, ...options } = {}) => {
      // Before 3.5 a member answers from what it knows, whatever we ask for. After a linearizable read it knows enough.
      if (linearizable) await linearizableRead(options);
      const answer = await caller.ask(memberList, { linearizable }, options);
      return membersOf(answer.members);
    },
    memberAdd: async (peerURLs, { learner, ...options }) => {
      if (learner) await assertLearners(caller, options);
      const { member } = await caller.ask(memberAdd, { peerUrls: [...peerURLs], isLearner: learner }, options);
      if (member !== undefined) return memberOf(member);
      throw new EtcdFailure('unreachable', 'etcd added a member without saying which', { mayBeDone: true });
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

/** A server that has never heard of learners skips the word, and would add a voter. */
async function assertLearners(caller: Caller, options: CallOptions): Promise<void> {
  const { version } = await caller.ask(Maintenance.method.status, {}, options);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 3 || (major === 3 && minor >= 4)) return;
  throw new EtcdFailure('rejected', `etcd ${version} has no learners`, { refusal: 'not-supported', mayBeDone: false });
}

/** A user who may not read the key still had to wait for the majority to be told so. */
async function readWithMajority(caller: Caller, options?: CallOptions): Promise<void> {
  try {
    await caller.ask(KV.method.range, { key: new TextEncoder().encode('health'), countOnly: true }, options);
  } catch (thrown) {
    if (!isRefusal(thrown, 'permission-denied')) throw thrown;
  }
}
