import type { FailureKind } from '../std/failure.ts';

interface Meaning {
  /** A part of etcd's message that identifies the refusal. */
  readonly text: string;
  readonly kind: FailureKind;
  /** The request may have taken effect although etcd refused it. */
  readonly mayBeDone?: true;
}

/**
 * The known refusals of etcd, and how the caller must react:
 *
 *   conflict     the observed state is outdated or not reached yet: observe again, then decide
 *   unreachable  temporary: retry the same request later
 *   rejected     permanent: the same request fails until its cause changes
 *   forbidden    a permission is missing
 *
 * Refusals are identified by message, not by gRPC code: some versions send the code "unknown" with the same message.
 * The first match counts, so a more specific message stands before a more general one.
 */
export const refusals = {
  'unhealthy-cluster': { text: 'unhealthy cluster', kind: 'unreachable' },
  'not-enough-started-members': { text: 'not enough started members', kind: 'unreachable' },
  'learner-not-ready': { text: 'learner member which is in sync with leader', kind: 'conflict' },
  'not-learner': { text: 'can only promote a learner member', kind: 'conflict' },
  'too-many-learners': { text: 'too many learner members', kind: 'conflict' },
  'is-learner': { text: 'rpc not supported for learner', kind: 'conflict' },
  'member-exists': { text: 'member ID already exist', kind: 'conflict' },
  'peer-url-exists': { text: 'Peer URLs already exists', kind: 'conflict' },
  'member-not-found': { text: 'member not found', kind: 'not-found' },
  'bad-peer-urls': { text: 'member URLs are invalid', kind: 'rejected' },
  'wrong-cluster': { text: 'cluster ID mismatch', kind: 'rejected' },

  'no-leader': { text: 'etcdserver: no leader', kind: 'unreachable' },
  'leader-changed': { text: 'leader changed', kind: 'unreachable', mayBeDone: true },
  'not-leader': { text: 'etcdserver: not leader', kind: 'conflict' },
  'bad-leader-transferee': { text: 'bad leader transferee', kind: 'conflict' },
  'leader-transferee-failed': { text: 'leader transfer took too long', kind: 'unreachable', mayBeDone: true },
  'timed-out-in-cluster': { text: 'etcdserver: request timed out', kind: 'unreachable', mayBeDone: true },
  'proposal-dropped': { text: 'raft proposal dropped', kind: 'unreachable' },
  stopping: { text: 'server stopped', kind: 'unreachable', mayBeDone: true },
  overloaded: { text: 'too many requests', kind: 'unreachable' },
  'not-capable-yet': { text: 'etcdserver: not capable', kind: 'unreachable' }, // until all members run the new version

  'auth-needed': { text: 'user name is empty', kind: 'forbidden' },
  'user-not-found': { text: 'user name not found', kind: 'forbidden' },
  'auth-not-enabled': { text: 'authentication is not enabled', kind: 'rejected' },
  'wrong-password': { text: 'authentication failed, invalid user ID or password', kind: 'forbidden' },
  'invalid-token': { text: 'invalid auth token', kind: 'forbidden' },
  'old-token': { text: 'revision of auth store is old', kind: 'forbidden' },
  'permission-denied': { text: 'permission denied', kind: 'forbidden' },

  'no-space': { text: 'database space exceeded', kind: 'rejected', mayBeDone: true },
  'request-too-large': { text: 'request is too large', kind: 'rejected' },
  compacted: { text: 'required revision has been compacted', kind: 'rejected' },
  'future-revision': { text: 'required revision is a future revision', kind: 'rejected' },
  corrupt: { text: 'corrupt cluster', kind: 'rejected' },

  'downgrade-in-progress': { text: 'cluster has a downgrade job in progress', kind: 'conflict' },
  'no-downgrade': { text: 'no inflight downgrade job', kind: 'conflict' },
  'bad-downgrade-target': { text: 'downgrade target version', kind: 'rejected' },

  /** This version of etcd lacks the method. */
  'not-supported': { text: 'unknown method', kind: 'rejected' },
} as const satisfies Readonly<Record<string, Meaning>>;

export type EtcdRefusal = keyof typeof refusals;

export const meaningOf = (refusal: EtcdRefusal): Meaning => refusals[refusal];

/** The refusal that an error message of etcd stands for, if it is a known one. */
export const refusalIn = (message: string): EtcdRefusal | undefined =>
  (Object.keys(refusals) as EtcdRefusal[]).find((refusal) => message.includes(refusals[refusal].text));
