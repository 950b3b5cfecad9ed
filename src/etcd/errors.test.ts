import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { Failure } from '../std/failure.ts';
import { type Attempt, EtcdFailure, etcdFailureOf, isRefusal } from './errors.ts';
import { type EtcdRefusal, meaningOf, refusalIn, refusals } from './refusals.ts';

const attempt: Attempt = { what: 'etcd MemberAdd at http://a:2379', timeoutMillis: 5_000 };

/** An error of Node, wrapped by the gRPC library. */
const broken = (code: string, libraryCode = Code.Internal): ConnectError => {
  const error = new ConnectError('it broke', libraryCode);
  error.cause = Object.assign(new Error('outer'), { cause: Object.assign(new Error('inner'), { code }) });
  return error;
};

describe('a refusal of etcd', () => {
  it('is identified by its message', () => {
    for (const refusal of Object.keys(refusals) as EtcdRefusal[])
      expect(refusalIn(`etcdserver: ${refusals[refusal].text}`)).toBe(refusal);
    expect(refusalIn('etcdserver: something new')).toBeUndefined();
  });

  it('keeps its meaning with the gRPC code "unknown", which some versions send', () => {
    const message = 'etcdserver: re-configuration failed due to not enough started members';
    const failure = etcdFailureOf(new ConnectError(message, Code.Unknown), attempt);
    expect(failure).toMatchObject({ kind: 'unreachable', refusal: 'not-enough-started-members', mayBeDone: false });
    expect(failure.message).toBe(`etcd MemberAdd at http://a:2379: ${message}`);
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
    it(`is ${refusal} for "${sentence}"`, () => expect(refusalIn(sentence)).toBe(refusal));

  it('has mayBeDone only if etcd may have applied the request', () => {
    const open = (Object.keys(refusals) as EtcdRefusal[]).filter((refusal) => meaningOf(refusal).mayBeDone === true);
    expect(open).toEqual(
      expect.arrayContaining(['no-space', 'timed-out-in-cluster', 'leader-changed', 'leader-transferee-failed']),
    );
    expect(open).not.toContain('unhealthy-cluster');
  });
});

describe('a failed call', () => {
  const cases: Record<string, { thrown: unknown; ended?: Attempt['ended']; want: object }> = {
    'is unreachable after its time-out, and names the time-out': {
      thrown: new ConnectError('aborted', Code.Canceled),
      ended: 'timed-out',
      want: { kind: 'unreachable', mayBeDone: true, message: expect.stringContaining('no answer within 5000 ms') },
    },
    'is the same if the server reports the deadline first': {
      thrown: new ConnectError('context deadline exceeded', Code.DeadlineExceeded),
      want: { kind: 'unreachable', mayBeDone: true, message: expect.stringContaining('no answer within 5000 ms') },
    },
    'is unreachable if an old server reports a time-out of its own': {
      thrown: new ConnectError('context deadline exceeded', Code.Unknown),
      want: { kind: 'unreachable', mayBeDone: true },
    },
    'is unreachable if the caller aborts': {
      thrown: new ConnectError('aborted', Code.Canceled),
      ended: 'aborted',
      want: { kind: 'unreachable', mayBeDone: true, message: expect.stringContaining('aborted') },
    },
    'has no effect if the connection is refused': {
      thrown: broken('ECONNREFUSED', Code.Unavailable),
      want: { kind: 'unreachable', mayBeDone: false, message: expect.stringContaining('no connection') },
    },
    'may have taken effect if the connection broke': {
      thrown: broken('ECONNRESET', Code.Aborted),
      want: { kind: 'unreachable', mayBeDone: true },
    },
    'is a TLS failure if the certificate name does not match': {
      thrown: broken('ERR_TLS_CERT_ALTNAME_INVALID'),
      want: { kind: 'unreachable', mayBeDone: false, message: expect.stringContaining('TLS failed') },
    },
    'is a TLS failure if the server rejects the client certificate': {
      thrown: broken('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'),
      want: { kind: 'unreachable', message: expect.stringContaining('TLS failed') },
    },
    'is a TLS failure if the server certificate is not trusted': {
      thrown: broken('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      want: { kind: 'unreachable', mayBeDone: false, message: expect.stringContaining('TLS failed') },
    },
    'is not-supported if the server lacks the method': {
      thrown: new ConnectError('unknown service etcdserverpb.Foo', Code.Unimplemented),
      want: { kind: 'rejected', refusal: 'not-supported', mayBeDone: false },
    },
    'is unreachable if a web server answers': {
      thrown: new ConnectError('HTTP 404', Code.Unimplemented),
      want: { kind: 'unreachable', refusal: undefined },
    },
    'is rejected if the message is unknown': {
      thrown: new ConnectError('etcdserver: bad moon', Code.FailedPrecondition),
      want: { kind: 'rejected', refusal: undefined, mayBeDone: false },
    },
    'is a bug if the error is not from the library': { thrown: new TypeError('x is undefined'), want: { kind: 'bug' } },
  };
  for (const [sentence, { thrown, ended, want }] of Object.entries(cases))
    it(sentence, () => expect(etcdFailureOf(thrown, { ...attempt, ended })).toMatchObject(want));

  it('keeps an existing Failure and its cause', () => {
    const failure = new Failure('bug', 'ours');
    expect(etcdFailureOf(failure, attempt)).toBe(failure);
    const cause = new ConnectError('etcdserver: no leader', Code.Unavailable);
    expect(etcdFailureOf(cause, attempt).cause).toBe(cause);
  });

  it('can be tested for its refusal', () => {
    const refused = new EtcdFailure('conflict', 'no', { refusal: 'not-leader', mayBeDone: false });
    expect(isRefusal(refused, 'no-leader', 'not-leader')).toBe(true);
    expect(isRefusal(refused, 'no-leader')).toBe(false);
    expect(isRefusal(new EtcdFailure('unreachable', 'gone', { mayBeDone: true }), 'no-leader')).toBe(false);
  });
});
