import type { Fields } from './json.ts';
import { isFields } from './json.ts';

export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

interface Details {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

/** An error response of the API server, in the form of a Status. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: Details;

  constructor(code: number, reason: string, content: { message: string; details?: Details }) {
    super(content.message);
    this.code = code;
    this.reason = reason;
    this.details = content.details ?? {};
  }

  status(): Fields {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason !== '' && { reason: this.reason }),
      ...(Object.keys(this.details).length > 0 && { details: this.details }),
      code: this.code,
    };
  }
}

/** The resource and the object that an error is about. */
export interface ErrorSubject {
  readonly group: string;
  readonly plural: string;
  readonly name: string;
}

const fullName = ({ group, plural }: ErrorSubject): string => (group === '' ? plural : `${plural}.${group}`);
const detailsOf = ({ group, plural, name }: ErrorSubject): Details => ({
  ...(name !== '' && { name }),
  ...(group !== '' && { group }),
  kind: plural,
});

const errorAbout =
  (code: number, reason: string, describe: (what: string) => string) =>
  (named: ErrorSubject): StatusError =>
    new StatusError(code, reason, {
      message: describe(`${fullName(named)} "${named.name}"`),
      details: detailsOf(named),
    });

export const notFound = errorAbout(404, 'NotFound', (what) => `${what} not found`);
export const alreadyExists = errorAbout(409, 'AlreadyExists', (what) => `${what} already exists`);

export const conflict = (named: ErrorSubject, message: string): StatusError =>
  errorAbout(409, 'Conflict', (what) => `Operation cannot be fulfilled on ${what}: ${message}`)(named);

export const forbidden = (named: ErrorSubject, message: string): StatusError =>
  errorAbout(403, 'Forbidden', (what) => `${what} is forbidden: ${message}`)(named);

export const stale = (named: ErrorSubject): StatusError =>
  conflict(named, 'the object has been modified; please apply your changes to the latest version and try again');

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', { message });

/** Nothing is served at the path. The response is plain text, not a Status. */
export class NoSuchPath extends Error {
  override readonly message = '404 page not found';
}

export const methodNotAllowed = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', {
    message: 'the server does not allow this method on the requested resource',
  });

export const expired = (message: string): StatusError => new StatusError(410, 'Expired', { message });

export const unsupportedMedia = (accepted: readonly string[]): StatusError =>
  new StatusError(415, 'UnsupportedMediaType', {
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  });

export const notAcceptable = (): StatusError =>
  new StatusError(406, 'NotAcceptable', {
    message: 'only the following media types are accepted: application/json, application/yaml',
  });

/** An error in one field. */
export interface FieldError {
  readonly type:
    | 'Required'
    | 'Invalid'
    | 'NotSupported'
    | 'Duplicate'
    | 'Forbidden'
    | 'TypeInvalid'
    | 'TooLong'
    | 'TooMany'
    | 'NotFound';
  readonly path: string;
  /** The wrong value; absent for a missing field. */
  readonly value?: unknown;
  readonly detail: string;
}

const reasons: Readonly<Record<FieldError['type'], readonly [string, string]>> = {
  Required: ['FieldValueRequired', 'Required value'],
  Invalid: ['FieldValueInvalid', 'Invalid value'],
  NotSupported: ['FieldValueNotSupported', 'Unsupported value'],
  Duplicate: ['FieldValueDuplicate', 'Duplicate value'],
  Forbidden: ['FieldValueForbidden', 'Forbidden'],
  TypeInvalid: ['FieldValueTypeInvalid', 'Invalid value'],
  TooLong: ['FieldValueTooLong', 'Too long'],
  TooMany: ['FieldValueTooMany', 'Too many'],
  NotFound: ['FieldValueNotFound', 'Not found'],
};

/** Quotes a value as Go does in field errors. */
function quoteValue(value: unknown): string {
  if (Array.isArray(value) || isFields(value)) return JSON.stringify(value);
  return JSON.stringify(value) ?? '""';
}

const withoutValue = new Set<FieldError['type']>(['Required', 'Forbidden', 'TooLong', 'TooMany']);

function messageOf({ type, value, detail }: FieldError): string {
  const [, title] = reasons[type];
  const hasNoValue = withoutValue.has(type) || value === undefined;
  const head = hasNoValue ? title : `${title}: ${quoteValue(value)}`;
  return detail === '' ? head : `${head}: ${detail}`;
}

const causeOf = (error: FieldError): Cause => ({
  reason: reasons[error.type][0],
  message: messageOf(error),
  field: error.path,
});

export const supported = (values: readonly string[]): string =>
  `supported values: ${values.map((value) => JSON.stringify(value)).join(', ')}`;

/** The error for an object with invalid fields; each of them is named. */
export function invalid(of: { group: string; kind: string; name: string }, errors: readonly FieldError[]): StatusError {
  const sentences = [...new Set(errors.map((error) => `${error.path}: ${messageOf(error)}`))];
  const list = sentences.length === 1 ? sentences[0] : `[${sentences.join(', ')}]`;
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`;
  return new StatusError(422, 'Invalid', {
    message: `${kind} "${of.name}" is invalid: ${list}`,
    details: { name: of.name, ...(of.group !== '' && { group: of.group }), kind: of.kind, causes: errors.map(causeOf) },
  });
}
