import { Failure, type FailureKind } from '../std/failure.ts';

/** The Status object of a failed request. */
interface StatusBody {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: { readonly retryAfterSeconds?: number; readonly causes?: readonly { readonly field?: string }[] };
}

/** A failed call to the API server, with the server's reason and its Retry-After time. */
export class ApiFailure extends Failure {
  readonly reason: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The server's message, without the prefix for verb and object. */
  readonly serverMessage: string | undefined;

  constructor(kind: FailureKind, message: string, options: ErrorOptions & ApiFailureDetails = {}) {
    super(kind, message, options);
    this.reason = options.reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.serverMessage = options.serverMessage;
  }
}

interface ApiFailureDetails {
  readonly reason?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly serverMessage?: string | undefined;
}

/** True if a create failed because an object of that name exists. */
export const isAlreadyExists = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure && thrown.reason === 'AlreadyExists';

/** True if the resourceVersion or the continue token has expired: a new list is needed. */
export const isExpired = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure && (thrown.reason === 'Expired' || thrown.reason === 'Gone');

/** True if a watch ended for lack of events. That is no failure: a dead connection shows when the next watch begins. */
export const isIdleTimeout = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure &&
  thrown.cause instanceof Error &&
  Reflect.get(thrown.cause, 'code') === 'UND_ERR_BODY_TIMEOUT';

/** The plain-text body of a 404 for an unknown path. A proxy may send the same. */
const noSuchPath = '404 page not found';

/**
 * True if the object does not exist, or its kind is not defined. A kind may be undefined for a moment, and a proxy may
 * send the same answer. To prove that an object is gone, check for `not-found` instead.
 */
export const isAbsentOrUndefined = (thrown: unknown): boolean =>
  thrown instanceof Failure &&
  (thrown.kind === 'not-found' || (thrown instanceof ApiFailure && thrown.serverMessage === noSuchPath));

/** The Retry-After time of the server, if it sent one. */
export const retryAfterOf = (thrown: unknown): number | undefined =>
  thrown instanceof ApiFailure ? thrown.retryAfterSeconds : undefined;

/** The failure for an unsuccessful answer. `request` names verb and object. */
export function failureOfAnswer(
  request: string,
  status: number,
  answer: { text: string; retryAfter?: string },
): ApiFailure {
  const body = statusIn(answer.text);
  const message = body.message ?? (answer.text.trim().slice(0, 500) || `HTTP status ${status}`);
  return new ApiFailure(kindOf(status, body), `${request}: ${status === 401 ? unauthorized : ''}${message}`, {
    reason: body.reason ?? (status === 410 ? 'Expired' : undefined),
    retryAfterSeconds: secondsIn(answer.retryAfter) ?? secondsIn(body.details?.retryAfterSeconds),
    serverMessage: message,
  });
}

const unauthorized =
  'the API server does not accept our credentials; if this lasts, check token and client certificate: ';

/** A patch with the UID of a replaced object is refused as a change of `metadata.uid`. */
const isUidMismatch = ({ details }: StatusBody): boolean =>
  details?.causes?.some(({ field }) => field === 'metadata.uid') === true;

/** The failure for an ERROR event of a watch, which carries a Status. */
export const failureOfEvent = (request: string, object: unknown): ApiFailure =>
  failureOfAnswer(request, numberIn(object, 'code') ?? 500, { text: JSON.stringify(object) });

/** The failure for a missing or incomplete answer: the request may have taken effect. */
export function unanswered(request: string, thrown: unknown, signal?: AbortSignal): Failure {
  if (thrown instanceof Failure) return thrown;
  const message = signal?.aborted ? `aborted before the answer (${messageOf(signal.reason)})` : messageOf(thrown);
  return new ApiFailure('unreachable', `${request}: ${message}`, { cause: thrown });
}

const kinds: Readonly<Record<number, FailureKind>> = {
  401: 'unreachable', // may be transient: a token is being renewed, or the API server is still loading its keys
  403: 'forbidden',
  404: 'unreachable', // without a Status: from a proxy, or from a server that does not serve the path yet
  408: 'unreachable',
  409: 'conflict',
  410: 'conflict',
  429: 'unreachable',
};

function kindOf(status: number, body: StatusBody): FailureKind {
  if (isUidMismatch(body)) return 'conflict';
  if (status === 404 && body.kind === 'Status' && body.reason === 'NotFound') return 'not-found';
  return kinds[status] ?? (status >= 500 ? 'unreachable' : 'rejected');
}

/** Parses a Status. A proxy, or a server during its start, answers with plain text instead. */
function statusIn(text: string): StatusBody {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}

function numberIn(object: unknown, field: string): number | undefined {
  if (typeof object !== 'object' || object === null || !(field in object)) return undefined;
  const value: unknown = Reflect.get(object, field);
  return typeof value === 'number' ? value : undefined;
}

/** The longest Retry-After that is respected. A proxy may ask for hours. */
const longestWaitSeconds = 60;

/** Retry-After in seconds. The date form of the header is ignored. */
function secondsIn(wait: string | number | undefined): number | undefined {
  const seconds = Number(wait);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, longestWaitSeconds) : undefined;
}

/** The message of an error. A connect to several addresses fails with an AggregateError without a message. */
function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(messageOf).join('; ');
  return thrown.message || thrown.name;
}
