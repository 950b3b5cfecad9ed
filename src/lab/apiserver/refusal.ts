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

/** What the server answers when it does not do what it was asked, in the words of a Status. */
export class Refusal extends Error {
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

/** What a refusal is about: the resource, and the object if there is one. */
export interface Named {
  readonly group: string;
  readonly plural: string;
  readonly name: string;
}

const fullName = ({ group, plural }: Named): string => (group === '' ? plural : `${plural}.${group}`);
const detailsOf = ({ group, plural, name }: Named): Details => ({
  ...(name !== '' && { name }),
  ...(group !== '' && { group }),
  kind: plural,
});

const about =
  (code: number, reason: string, says: (what: string) => string) =>
  (named: Named): Refusal =>
    new Refusal(code, reason, { message: says(`${fullName(named)} "${named.name}"`), details: detailsOf(named) });

export const notFound = about(404, 'NotFound', (what) => `${what} not found`);
export const alreadyExists = about(409, 'AlreadyExists', (what) => `${what} already exists`);

export const conflict = (named: Named, message: string): Refusal =>
  about(409, 'Conflict', (what) => `Operation cannot be fulfilled on ${what}: ${message}`)(named);

export const forbidden = (named: Named, message: string): Refusal =>
  about(403, 'Forbidden', (what) => `${what} is forbidden: ${message}`)(named);

export const stale = (named: Named): Refusal =>
  conflict(named, 'the object has been modified; please apply your changes to the latest version and try again');

export const badRequest = (message: string): Refusal => new Refusal(400, 'BadRequest', { message });

/** There is nothing at a path at all; this is said in plain words, as only of objects there is more to say. */
export class NoSuchPath extends Error {
  override readonly message = '404 page not found';
}

export const methodNotAllowed = (): Refusal =>
  new Refusal(405, 'MethodNotAllowed', { message: 'the server does not allow this method on the requested resource' });

export const expired = (message: string): Refusal => new Refusal(410, 'Expired', { message });

export const unsupportedMedia = (accepted: readonly string[]): Refusal =>
  new Refusal(415, 'UnsupportedMediaType', {
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  });

export const notAcceptable = (): Refusal =>
  new Refusal(406, 'NotAcceptable', {
    message: 'only the following media types are accepted: application/json, application/yaml',
  });

/** One thing that is wrong with a field. */
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
  /** The value that is wrong; nothing for a field that is missing. */
  readonly value?: unknown;
  readonly says: string;
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

/** Objects are shown by their type only where Go would show them so; text is quoted, numbers are not. */
function shown(value: unknown): string {
  if (Array.isArray(value) || isFields(value)) return JSON.stringify(value);
  return JSON.stringify(value) ?? '""';
}

const withoutValue = new Set<FieldError['type']>(['Required', 'Forbidden', 'TooLong', 'TooMany']);

function detail({ type, value, says }: FieldError): string {
  const [, words] = reasons[type];
  const hasNoValue = withoutValue.has(type) || value === undefined;
  const head = hasNoValue ? words : `${words}: ${shown(value)}`;
  return says === '' ? head : `${head}: ${says}`;
}

const causeOf = (error: FieldError): Cause => ({
  reason: reasons[error.type][0],
  message: detail(error),
  field: error.path,
});

export const supported = (values: readonly string[]): string =>
  `supported values: ${values.map((value) => JSON.stringify(value)).join(', ')}`;

/** An object that is understood, but wrong; each wrong field is named. */
export function invalid(of: { group: string; kind: string; name: string }, errors: readonly FieldError[]): Refusal {
  const sentences = [...new Set(errors.map((error) => `${error.path}: ${detail(error)}`))];
  const list = sentences.length === 1 ? sentences[0] : `[${sentences.join(', ')}]`;
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`;
  return new Refusal(422, 'Invalid', {
    message: `${kind} "${of.name}" is invalid: ${list}`,
    details: { name: of.name, ...(of.group !== '' && { group: of.group }), kind: of.kind, causes: errors.map(causeOf) },
  });
}
