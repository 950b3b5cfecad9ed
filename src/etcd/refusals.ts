import type { FailureKind } from '../std/failure.ts';

interface Meaning {
  /** What etcd says; part of its sentence is enough. */
  readonly says: string;
  readonly kind: FailureKind;
  /** Set where what was asked may have been done although etcd says no. */
  readonly mayBeDone?: true;
}

/**
 * Every no of etcd's that we know, and what it means for whoever asked:
 *
 *   conflict     the cluster is not what you took it for, or not that far yet: look again, then decide anew
 *   unreachable  right, but not now: the same may be asked again later
 *   rejected     the same will be refused again, until somebody changes something
 *   forbidden    somebody has to grant it
 *
 * They are told apart by their words, not by their gRPC code: some versions send code "unknown" with the same words.
 * The first that fits counts, so a sentence that begins like another stands before it.
 */
export const refusals = {
  'unhealthy-cluster': { says: 'unhealthy cluster', kind: 'unreachable' },
  'not-enough-started-members': { says: 'not enough started members', kind: 'unreachable' },
  'learner-not-ready': { says: 'learner member which is in sync with leader', kind: 'conflict' },
  'not-learner': { says: 'can only promote a learner member', kind: 'conflict' },
  'too-many-learners': { says: 'too many learner members', kind: 'conflict' },
  'is-learner': { says: 'rpc not supported for learner', kind: 'conflict' },
  'member-exists': { says: 'member ID already exist', kind: 'conflict' },
  'peer-url-exists': { says: 'Peer URLs already exists', kind: 'conflict' },
  'member-not-found': { says: 'member not found', kind: 'not-found' },
  'bad-peer-urls': { says: 'member URLs are invalid', kind: 'rejected' },
  'wrong-cluster': { says: 'cluster ID mismatch', kind: 'rejected' },

  'no-leader': { says: 'etcdserver: no leader', kind: 'unreachable' },
  'leader-changed': { says: 'leader changed', kind: 'unreachable', mayBeDone: true },
  'not-leader': { says: 'etcdserver: not leader', kind: 'conflict' },
  'bad-leader-transferee': { says: 'bad leader transferee', kind: 'conflict' },
  'leader-transferee-failed': { says: 'leader transfer took too long', kind: 'unreachable', mayBeDone: true },
  'timed-out-in-cluster': { says: 'etcdserver: request timed out', kind: 'unreachable', mayBeDone: true },
  'proposal-dropped': { says: 'raft proposal dropped', kind: 'unreachable' },
  stopping: { says: 'server stopped', kind: 'unreachable', mayBeDone: true },
  overloaded: { says: 'too many requests', kind: 'unreachable' },
  'not-capable-yet': { says: 'etcdserver: not capable', kind: 'unreachable' }, // until all members run the version that is

  'auth-needed': { says: 'user name is empty', kind: 'forbidden' },
  'user-not-found': { says: 'user name not found', kind: 'forbidden' },
  'auth-not-enabled': { says: 'authentication is not enabled', kind: 'rejected' },
  'wrong-password': { says: 'authentication failed, invalid user ID or password', kind: 'forbidden' },
  'invalid-token': { says: 'invalid auth token', kind: 'forbidden' },
  'old-token': { says: 'revision of auth store is old', kind: 'forbidden' },
  'permission-denied': { says: 'permission denied', kind: 'forbidden' },

  'no-space': { says: 'database space exceeded', kind: 'rejected', mayBeDone: true },
  'request-too-large': { says: 'request is too large', kind: 'rejected' },
  compacted: { says: 'required revision has been compacted', kind: 'rejected' },
  'future-revision': { says: 'required revision is a future revision', kind: 'rejected' },
  corrupt: { says: 'corrupt cluster', kind: 'rejected' },

  'downgrade-in-progress': { says: 'cluster has a downgrade job in progress', kind: 'conflict' },
  'no-downgrade': { says: 'no inflight downgrade job', kind: 'conflict' },
  'bad-downgrade-target': { says: 'downgrade target version', kind: 'rejected' },

  /** This version of etcd has no such call. */
  'not-supported': { says: 'unknown method', kind: 'rejected' },
} as const satisfies Readonly<Record<string, Meaning>>;

export type EtcdRefusal = keyof typeof refusals;

export const meaningOf = (refusal: EtcdRefusal): Meaning => refusals[refusal];

/** The refusal that a sentence of etcd's is, if it is one. */
export const refusalIn = (sentence: string): EtcdRefusal | undefined =>
  (Object.keys(refusals) as EtcdRefusal[]).find((refusal) => sentence.includes(refusals[refusal].says));
