import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { Failure } from '../std/failure.ts';
import { type Attempt, EtcdFailure, failureOf, isRefusal } from './errors.ts';
import { type EtcdRefusal, meaningOf, refusalIn, refusals } from './refusals.ts';

const attempt: Attempt = { what: 'etcd MemberAdd at http://a:2379', timeoutMillis: 5_000 };

/** An error as Node makes it, wrapped as the library wraps it. */
const broken = (code: string, libraryCode = Code.Internal): ConnectError => {
  const error = new ConnectError('it broke', libraryCode);
  error.cause = Object.assign(new Error('outer'), { cause: Object.assign(new Error('inner'), { code }) });
  return error;
};

describe('what etcd says', () => {
  it('is known again by its words, each no for itself', () => {
    for (const refusal of Object.keys(refusals) as EtcdRefusal[])
      expect(refusalIn(`etcdserver: ${refusals[refusal].says}`)).toBe(refusal);
    expect(refusalIn('etcdserver: something new')).toBeUndefined();
  });

  it('keeps its meaning when it comes with the code "unknown", as some versions send it', () => {
    const says = 'etcdserver: re-configuration failed due to not enough started members';
    const failure = failureOf(new ConnectError(says, Code.Unknown), attempt);
    expect(failure).toMatchObject({ kind: 'unreachable', refusal: 'not-enough-started-members', mayBeDone: false });
    expect(failure.message).toBe(`etcd MemberAdd at http://a:2379: ${says}`);
  });

  const sentences: Record<string, EtcdRefusal> = {
    'etcdserver: can only promote a learner member': 'not-learner',
    'etcdserver: can only promote a learner member which is in sync with leader': 'learner-not-ready',
    'etcdserver: request timed out': 'timed-out-in-cluster',
    'etcdserver: request timed out, possibly due to previous leader failure': 'timed-out-in-cluster',
    'etcdserver: request timed out, leader transfer took too long': 'leader-transferee-failed',
    'etcdserver: mvcc: database space exceeded': 'no-space',
    'rpc error: code = PermissionDenied desc = etcdserver: permission denied': 'permission-denied',
  };
  for (const [sentence, refusal] of Object.entries(sentences))
    it(`means ${refusal} by "${sentence}"`, () => expect(refusalIn(sentence)).toBe(refusal));

  it('leaves open whether it was done only where etcd itself does', () => {
    const open = (Object.keys(refusals) as EtcdRefusal[]).filter((refusal) => meaningOf(refusal).mayBeDone === true);
    expect(open).toEqual(
      expect.arrayContaining(['no-space', 'timed-out-in-cluster', 'leader-changed', 'leader-transferee-failed']),
    );
    expect(open).not.toContain('unhealthy-cluster');
  });
});

describe('a failed call', () => {
  const cases: Record<string, { thrown: unknown; ended?: Attempt['ended']; want: object }> = {
    'is unreachable, and says for how long it waited, when its time is up': {
      thrown: new ConnectError('aborted', Code.Canceled),
      ended: 'timed-out',
      want: { kind: 'unreachable', mayBeDone: true, message: expect.stringContaining('no answer within 5000 ms') },
    },
    'is the same when the server saw the time run out first': {
      thrown: new ConnectError('context deadline exceeded', Code.DeadlineExceeded),
      want: { kind: 'unreachable', mayBeDone: true, message: expect.stringContaining('no answer within 5000 ms') },
    },
    'is unreachable when an old server passes on that its own time ran out': {
      thrown: new ConnectError('context deadline exceeded', Code.Unknown),
      want: { kind: 'unreachable', mayBeDone: true },
    },
    'is unreachable when the caller called it off': {
      thrown: new ConnectError('aborted', Code.Canceled),
      ended: 'called-off',
      want: { kind: 'unreachable', mayBeDone: true, message: expect.stringContaining('called off') },
    },
    'had certainly no effect when nobody listened': {
      thrown: broken('ECONNREFUSED', Code.Unavailable),
      want: { kind: 'unreachable', mayBeDone: false, message: expect.stringContaining('no connection') },
    },
    'may have had one when the connection broke': {
      thrown: broken('ECONNRESET', Code.Aborted),
      want: { kind: 'unreachable', mayBeDone: true },
    },
    'says that it was TLS when a name does not match': {
      thrown: broken('ERR_TLS_CERT_ALTNAME_INVALID'),
      want: { kind: 'unreachable', mayBeDone: false, message: expect.stringContaining('TLS failed') },
    },
    'says that it was TLS when the other side does not believe us': {
      thrown: broken('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'),
      want: { kind: 'unreachable', message: expect.stringContaining('TLS failed') },
    },
    'says that it was TLS when we do not believe the other side': {
      thrown: broken('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      want: { kind: 'unreachable', mayBeDone: false, message: expect.stringContaining('TLS failed') },
    },
    'is not supported when the server lacks the call': {
      thrown: new ConnectError('unknown service etcdserverpb.Foo', Code.Unimplemented),
      want: { kind: 'rejected', refusal: 'not-supported', mayBeDone: false },
    },
    'is unreachable when there is a web server in its place': {
      thrown: new ConnectError('HTTP 404', Code.Unimplemented),
      want: { kind: 'unreachable', refusal: undefined },
    },
    'is rejected with words that nobody knows': {
      thrown: new ConnectError('etcdserver: bad moon', Code.FailedPrecondition),
      want: { kind: 'rejected', refusal: undefined, mayBeDone: false },
    },
    'is a bug when it is nothing of the library': { thrown: new TypeError('x is undefined'), want: { kind: 'bug' } },
  };
  for (const [sentence, { thrown, ended, want }] of Object.entries(cases))
    it(sentence, () => expect(failureOf(thrown, { ...attempt, ended })).toMatchObject(want));

  it('stays the failure that it is, and keeps its cause', () => {
    const failure = new Failure('bug', 'ours');
    expect(failureOf(failure, attempt)).toBe(failure);
    const cause = new ConnectError('etcdserver: no leader', Code.Unavailable);
    expect(failureOf(cause, attempt).cause).toBe(cause);
  });

  it('can be asked for its refusal', () => {
    const refused = new EtcdFailure('conflict', 'no', { refusal: 'not-leader', mayBeDone: false });
    expect(isRefusal(refused, 'no-leader', 'not-leader')).toBe(true);
    expect(isRefusal(refused, 'no-leader')).toBe(false);
    expect(isRefusal(new EtcdFailure('unreachable', 'gone', { mayBeDone: true }), 'no-leader')).toBe(false);
  });
});
