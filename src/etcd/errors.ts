import { Code, ConnectError } from '@connectrpc/connect';
import { Failure, type FailureKind } from '../std/failure.ts';
import { type EtcdRefusal, meaningOf, refusalIn } from './refusals.ts';

/** The obstacle, if etcd did not answer at all. For TLS, `message` describes the failed handshake. */
export type Obstacle =
  | { readonly is: 'timeout' }
  | { readonly is: 'connection' }
  | { readonly is: 'tls'; readonly message: string };

interface Details {
  readonly refusal?: EtcdRefusal | undefined;
  readonly obstacle?: Obstacle | undefined;
  readonly mayBeDone: boolean;
  readonly cause?: unknown;
}

/** A failed etcd call. `kind` decides on a retry; `mayBeDone` is true if the request may have taken effect. */
export class EtcdFailure extends Failure {
  /** The refusal, if etcd answered with a known one. */
  readonly refusal: EtcdRefusal | undefined;
  readonly obstacle: Obstacle | undefined;
  /** False if the request has certainly had no effect. */
  readonly mayBeDone: boolean;

  constructor(kind: FailureKind, message: string, { refusal, obstacle, mayBeDone, cause }: Details) {
    super(kind, message, { cause });
    this.refusal = refusal;
    this.obstacle = obstacle;
    this.mayBeDone = mayBeDone;
  }
}

/** True if etcd refused the call with one of these refusals. */
export const isRefusal = (thrown: unknown, ...wanted: readonly EtcdRefusal[]): boolean =>
  thrown instanceof EtcdFailure && thrown.refusal !== undefined && wanted.includes(thrown.refusal);

/** A failed call: method and member, and the cause if this client ended it. */
export interface Attempt {
  readonly what: string;
  readonly ended?: 'timed-out' | 'aborted' | undefined;
  readonly timeoutMillis: number;
}

export function etcdFailureOf(thrown: unknown, attempt: Attempt): Failure {
  if (thrown instanceof Failure) return thrown;
  if (!(thrown instanceof ConnectError)) return Failure.from(thrown);
  return (
    refused(thrown, attempt) ?? endedByUs(thrown, attempt) ?? notConnected(thrown, attempt) ?? byCode(thrown, attempt)
  );
}

/** The longest quote. Messages of etcd reach status and Events, and the author of the spec chooses the image. */
const longestQuote = 1024;

const quoteOf = ({ rawMessage }: ConnectError): string =>
  rawMessage.length <= longestQuote ? rawMessage : `${rawMessage.slice(0, longestQuote)}…`;

function refused(error: ConnectError, { what }: Attempt): EtcdFailure | undefined {
  const message = quoteOf(error);
  const refusal = refusalIn(message) ?? (lacksMethod(error) ? 'not-supported' : undefined);
  if (refusal === undefined) return undefined;
  const { kind, mayBeDone = false } = meaningOf(refusal);
  return new EtcdFailure(kind, `${what}: ${message}`, { refusal, mayBeDone, cause: error });
}

/** True if etcd lacks the method. The library reports the 404 of a web server or proxy with the same code. */
const lacksMethod = ({ code, rawMessage }: ConnectError): boolean =>
  code === Code.Unimplemented && !rawMessage.startsWith('HTTP ');

function endedByUs(error: ConnectError, { what, ended, timeoutMillis }: Attempt): EtcdFailure | undefined {
  const details = { obstacle: { is: 'timeout' }, mayBeDone: true, cause: error } as const;
  if (ended === 'aborted') return new EtcdFailure('unreachable', `${what}: aborted before the answer`, details);
  if (ended === undefined && error.code !== Code.DeadlineExceeded) return undefined;
  return new EtcdFailure('unreachable', `${what}: no answer within ${timeoutMillis} ms`, details);
}

/**
 * The failure of a connection that could not be made or broke. TLS failures are marked, because their repair differs.
 */
function notConnected(error: ConnectError, { what }: Attempt): EtcdFailure | undefined {
  const cause = causesOf(error).find(({ code }) => typeof code === 'string');
  if (cause === undefined) return undefined;
  const code = String(cause.code);
  const message = typeof cause.reason === 'string' ? cause.reason : quoteOf(error);
  const isTls = tlsCode.test(code);
  const mayBeDone = !beforeRequestWasSent.test(code);
  const obstacle: Obstacle = isTls ? { is: 'tls', message } : { is: 'connection' };
  const how = isTls ? 'TLS failed' : 'no connection';
  return new EtcdFailure('unreachable', `${what}: ${how}: ${message} (${code})`, { obstacle, mayBeDone, cause: error });
}

/** Error codes of OpenSSL and Node for failed handshakes and untrusted certificates. */
const tlsCode =
  /^ERR_(?:SSL|TLS|OSSL)_|^(?:CERT|CRL|UNABLE_TO|ERROR_IN|SELF_SIGNED|DEPTH_ZERO|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH)|^EPROTO$/;
const beforeRequestWasSent =
  /^(?:ECONNREFUSED|ERR_HTTP2_(?:INVALID|GOAWAY)_SESSION|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|ERR_TLS_CERT|ERR_SSL_\w*ALERT|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/;

/** Errors of Node have a code; errors of OpenSSL also have a readable reason. */
type NodeError = Error & { readonly code?: unknown; readonly reason?: unknown };

/** All causes, outermost first. */
function causesOf(error: ConnectError): readonly NodeError[] {
  const causes: NodeError[] = [];
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) causes.push(cause);
  return causes;
}

function byCode(error: ConnectError, { what }: Attempt): EtcdFailure {
  const kind = notFromEtcd.test(error.rawMessage) ? 'unreachable' : kinds[error.code];
  const mayBeDone = kind === 'unreachable' || error.code === Code.Unknown;
  return new EtcdFailure(kind, `${what}: ${quoteOf(error)}`, { mayBeDone, cause: error });
}

/** Errors of a proxy, and time-outs within etcd, which 3.1 and 3.2 send with the code "unknown". */
const notFromEtcd = /^HTTP |context deadline exceeded|context canceled/;

/** For unknown messages. The library reports an interrupted stream as Internal. */
const kinds: Readonly<Record<Code, FailureKind>> = {
  [Code.Canceled]: 'unreachable',
  [Code.Unknown]: 'rejected',
  [Code.InvalidArgument]: 'rejected',
  [Code.DeadlineExceeded]: 'unreachable',
  [Code.NotFound]: 'not-found',
  [Code.AlreadyExists]: 'conflict',
  [Code.PermissionDenied]: 'forbidden',
  [Code.ResourceExhausted]: 'unreachable',
  [Code.FailedPrecondition]: 'rejected',
  [Code.Aborted]: 'unreachable',
  [Code.OutOfRange]: 'rejected',
  [Code.Unimplemented]: 'rejected',
  [Code.Internal]: 'unreachable',
  [Code.Unavailable]: 'unreachable',
  [Code.DataLoss]: 'rejected',
  [Code.Unauthenticated]: 'forbidden',
};
