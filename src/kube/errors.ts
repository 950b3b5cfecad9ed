import { Failure, type FailureKind } from '../std/failure.ts';

/** What the API server says when it does not do what it was asked. */
interface StatusBody {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: { readonly retryAfterSeconds?: number; readonly causes?: readonly { readonly field?: string }[] };
}

/** A failure of a call to the API server, with the server's own word for it and how long it asks us to wait. */
export class ApiFailure extends Failure {
  readonly reason: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** What the server itself said, without what was asked of it. */
  readonly says: string | undefined;

  constructor(kind: FailureKind, message: string, options: ErrorOptions & ApiFailureDetails = {}) {
    super(kind, message, options);
    this.reason = options.reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.says = options.says;
  }
}

interface ApiFailureDetails {
  readonly reason?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly says?: string | undefined;
}

/** The create came second: there is an object of that name already. */
export const isAlreadyExists = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure && thrown.reason === 'AlreadyExists';

/** The version or the page we asked to go on from is forgotten: only a new list helps. */
export const isExpired = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure && (thrown.reason === 'Expired' || thrown.reason === 'Gone');

/** Nothing came on a watch for a while: it ended, and the server has refused nothing. A dead connection shows when the next watch begins. */
export const isIdleEnd = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure &&
  thrown.cause instanceof Error &&
  Reflect.get(thrown.cause, 'code') === 'UND_ERR_BODY_TIMEOUT';

/** What the server says in plain text where nothing is at a path; a proxy may say the same. */
const noSuchPath = '404 page not found';

/**
 * The object is not there, or its kind is not defined. A kind can be undefined for a moment, and a proxy can answer in the
 * server's place: where an object counts as gone, `not-found` has to be asked for.
 */
export const isAbsentOrUndefined = (thrown: unknown): boolean =>
  thrown instanceof Failure &&
  (thrown.kind === 'not-found' || (thrown instanceof ApiFailure && thrown.says === noSuchPath));

/** How long the other side asked us to wait, if it did. */
export const retryAfterOf = (thrown: unknown): number | undefined =>
  thrown instanceof ApiFailure ? thrown.retryAfterSeconds : undefined;

/** The failure behind an answer that is not a success. `asked` says what was tried, on what. */
export function failureOf(asked: string, status: number, answer: { text: string; retryAfter?: string }): ApiFailure {
  const body = statusIn(answer.text);
  const says = body.message ?? (answer.text.trim().slice(0, 500) || `HTTP status ${status}`);
  return new ApiFailure(kindOf(status, body), `${asked}: ${status === 401 ? notAccepted : ''}${says}`, {
    reason: body.reason ?? (status === 410 ? 'Expired' : undefined),
    retryAfterSeconds: secondsIn(answer.retryAfter) ?? secondsIn(body.details?.retryAfterSeconds),
    says,
  });
}

const notAccepted =
  'the API server does not accept our credentials; if this lasts, check token and client certificate: ';

/** A patch that says whom it means, and finds another there, is refused as if it were to change that one's uid. */
const isAboutAnother = ({ details }: StatusBody): boolean =>
  details?.causes?.some(({ field }) => field === 'metadata.uid') === true;

/** The failure behind an ERROR event of a watch, whose object is a Status. */
export const failureOfEvent = (asked: string, object: unknown): ApiFailure =>
  failureOf(asked, numberIn(object, 'code') ?? 500, { text: JSON.stringify(object) });

/** The failure behind an answer that did not come, or did not come whole: what was asked may have been done. */
export function unanswered(asked: string, thrown: unknown, signal?: AbortSignal): Failure {
  if (thrown instanceof Failure) return thrown;
  const says = signal?.aborted ? `stopped before it was answered (${words(signal.reason)})` : words(thrown);
  return new ApiFailure('unreachable', `${asked}: ${says}`, { cause: thrown });
}

const kinds: Readonly<Record<number, FailureKind>> = {
  401: 'unreachable', // also while a token is renewed, or an API server has not read its keys: it may pass
  403: 'forbidden',
  404: 'unreachable', // without a Status: a proxy says so, or a server that does not know the path as yet
  408: 'unreachable',
  409: 'conflict',
  410: 'conflict',
  429: 'unreachable',
};

function kindOf(status: number, body: StatusBody): FailureKind {
  if (isAboutAnother(body)) return 'conflict';
  if (status === 404 && body.kind === 'Status' && body.reason === 'NotFound') return 'not-found';
  return kinds[status] ?? (status >= 500 ? 'unreachable' : 'rejected');
}

/** A proxy or a server that is starting answers with text; then there is no Status to read. */
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

/** A proxy may ask for hours. Whoever waits that long sees nothing of the cluster meanwhile. */
const longestWaitSeconds = 60;

/** The header may also hold a date, which nobody sends here. */
function secondsIn(wait: string | number | undefined): number | undefined {
  const seconds = Number(wait);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, longestWaitSeconds) : undefined;
}

/** A connection tried over several addresses fails with a list of errors and no words of its own. */
function words(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(words).join('; ');
  return thrown.message || thrown.name;
}
