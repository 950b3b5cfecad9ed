import { Code, ConnectError } from '@connectrpc/connect';
import { Failure, type FailureKind } from '../std/failure.ts';
import { type EtcdRefusal, meaningOf, refusalIn } from './refusals.ts';

/** What was in the way where etcd itself said nothing. Of TLS, the words say what was wrong with the handshake. */
export type Obstacle =
  | { readonly is: 'timeout' }
  | { readonly is: 'connection' }
  | { readonly is: 'tls'; readonly says: string };

interface Details {
  readonly refusal?: EtcdRefusal | undefined;
  readonly obstacle?: Obstacle | undefined;
  readonly mayBeDone: boolean;
  readonly cause?: unknown;
}

/** What goes wrong with etcd. `kind` says whether to ask again, `mayBeDone` whether the asking may have had its effect. */
export class EtcdFailure extends Failure {
  /** Which no it was, where etcd itself said no. */
  readonly refusal: EtcdRefusal | undefined;
  readonly obstacle: Obstacle | undefined;
  /** False if what was asked has certainly not been done, and will not be. */
  readonly mayBeDone: boolean;

  constructor(kind: FailureKind, message: string, { refusal, obstacle, mayBeDone, cause }: Details) {
    super(kind, message, { cause });
    this.refusal = refusal;
    this.obstacle = obstacle;
    this.mayBeDone = mayBeDone;
  }
}

/** Whether something failed because etcd said this particular no. */
export const isRefusal = (thrown: unknown, ...wanted: readonly EtcdRefusal[]): boolean =>
  thrown instanceof EtcdFailure && thrown.refusal !== undefined && wanted.includes(thrown.refusal);

/** A call that fails: what was asked, of whom, and who ended it where it was not the other side. */
export interface Attempt {
  readonly what: string;
  readonly ended?: 'timed-out' | 'called-off' | undefined;
  readonly timeoutMillis: number;
}

export function failureOf(thrown: unknown, attempt: Attempt): Failure {
  if (thrown instanceof Failure) return thrown;
  if (!(thrown instanceof ConnectError)) return Failure.from(thrown);
  return (
    refused(thrown, attempt) ?? endedByUs(thrown, attempt) ?? notConnected(thrown, attempt) ?? byCode(thrown, attempt)
  );
}

/** What etcd says ends up in status and Events, and the image is chosen by the author of the spec. */
const longestQuote = 1024;

const quoteOf = ({ rawMessage }: ConnectError): string =>
  rawMessage.length <= longestQuote ? rawMessage : `${rawMessage.slice(0, longestQuote)}…`;

function refused(error: ConnectError, { what }: Attempt): EtcdFailure | undefined {
  const says = quoteOf(error);
  const refusal = refusalIn(says) ?? (lacksTheCall(error) ? 'not-supported' : undefined);
  if (refusal === undefined) return undefined;
  const { kind, mayBeDone = false } = meaningOf(refusal);
  return new EtcdFailure(kind, `${what}: ${says}`, { refusal, mayBeDone, cause: error });
}

/** A web server or proxy in etcd's place answers 404, which the library takes for a call that is not there. */
const lacksTheCall = ({ code, rawMessage }: ConnectError): boolean =>
  code === Code.Unimplemented && !rawMessage.startsWith('HTTP ');

function endedByUs(error: ConnectError, { what, ended, timeoutMillis }: Attempt): EtcdFailure | undefined {
  const details = { obstacle: { is: 'timeout' }, mayBeDone: true, cause: error } as const;
  if (ended === 'called-off') return new EtcdFailure('unreachable', `${what}: called off before it answered`, details);
  if (ended === undefined && error.code !== Code.DeadlineExceeded) return undefined;
  return new EtcdFailure('unreachable', `${what}: no answer within ${timeoutMillis} ms`, details);
}

/** The connection could not be made or broke: whether it was TLS is the first thing that whoever has to repair it asks. */
function notConnected(error: ConnectError, { what }: Attempt): EtcdFailure | undefined {
  const cause = causesOf(error).find(({ code }) => typeof code === 'string');
  if (cause === undefined) return undefined;
  const code = String(cause.code);
  const says = typeof cause.reason === 'string' ? cause.reason : quoteOf(error);
  const isTls = tlsCode.test(code);
  const mayBeDone = !beforeAnythingWasSent.test(code);
  const obstacle: Obstacle = isTls ? { is: 'tls', says } : { is: 'connection' };
  const how = isTls ? 'TLS failed' : 'no connection';
  return new EtcdFailure('unreachable', `${what}: ${how}: ${says} (${code})`, { obstacle, mayBeDone, cause: error });
}

/** OpenSSL's and Node's names for a handshake that fails; a certificate that is not believed has a name of its own each. */
const tlsCode =
  /^ERR_(?:SSL|TLS|OSSL)_|^(?:CERT|CRL|UNABLE_TO|ERROR_IN|SELF_SIGNED|DEPTH_ZERO|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH)|^EPROTO$/;
const beforeAnythingWasSent =
  /^(?:ECONNREFUSED|ERR_HTTP2_(?:INVALID|GOAWAY)_SESSION|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|ERR_TLS_CERT|ERR_SSL_\w*ALERT|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/;

/** Node gives its errors a code, and those of OpenSSL a reason in words, where the message is for OpenSSL's programmers. */
type NodeError = Error & { readonly code?: unknown; readonly reason?: unknown };

/** From the outermost to the cause of all. */
function causesOf(error: ConnectError): readonly NodeError[] {
  const causes: NodeError[] = [];
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) causes.push(cause);
  return causes;
}

function byCode(error: ConnectError, { what }: Attempt): EtcdFailure {
  const kind = notEtcdsOwnWord.test(error.rawMessage) ? 'unreachable' : kinds[error.code];
  const mayBeDone = kind === 'unreachable' || error.code === Code.Unknown;
  return new EtcdFailure(kind, `${what}: ${quoteOf(error)}`, { mayBeDone, cause: error });
}

/** What a proxy says in etcd's place, and how etcd's own waiting ended, which 3.1 and 3.2 pass on under the code "unknown". */
const notEtcdsOwnWord = /^HTTP |context deadline exceeded|context canceled/;

/** For sentences that we do not know. Internal is what the library calls a stream that breaks off. */
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
