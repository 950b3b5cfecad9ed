import { isDeepStrictEqual } from 'node:util';
import { parseDocument } from 'yaml';
import { fromProtobuf, isProtobuf } from '../http/protobuf.ts';
import { type Fields, isFields } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { setDefaults } from '../schema/defaults.ts';
import { mismatchOf } from '../schema/mismatch.ts';
import { prune } from '../schema/prune.ts';
import { canonicalQuantities } from '../schema/quantities.ts';
import { badRequest, unsupportedMedia } from '../status-error.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';
import type { Call } from './call.ts';

/** Parses the JSON, YAML or protobuf body of a request. */
export function parseBody({ body, contentType }: Pick<Call, 'body' | 'contentType'>): unknown {
  if (isProtobuf(body)) return fromProtobuf(body);
  const text = body.toString('utf8').trim();
  if (text === '') return undefined;
  if (!/json|yaml|^$/.test(contentType)) throw unsupportedMedia(['application/json', 'application/yaml']);
  try {
    return contentType.includes('yaml') ? parseYaml(text) : parseJson(text);
  } catch (error) {
    throw badRequest(`the object provided is unrecognized: ${error instanceof Error ? error.message : ''}`);
  }
}

const surrogate = /\\ud[89a-f]/i;

/** As in Go, half a surrogate pair is read as U+FFFD. */
function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return surrogate.test(text) ? wellFormed(value) : value;
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]));
}

/** As in Go, YAML has no surrogate pairs: a character is escaped as a whole, or not at all. */
function parseYaml(text: string): unknown {
  const isJson = text.startsWith('{');
  const value: unknown = isJson ? JSON.parse(text) : parseDocumentIn(text);
  const isSuspect = surrogate.test(text.replaceAll('\\\\', ''));
  if (isSuspect && (isJson || !isDeepStrictEqual(wellFormed(value), value)))
    throw new Error('yaml: found invalid Unicode character escape code');
  return value;
}

/** The value of one YAML document. Tags that JSON has no value for are refused, as mistakes are. */
function parseDocumentIn(text: string): unknown {
  const document = parseDocument(text, { resolveKnownTags: false });
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined) throw mistake;
  return document.toJS();
}

export interface Decoded {
  readonly object: KubeObject;
  readonly warnings: readonly string[];
}

/** The object in the body of a request: checked for kind and schema, pruned and with defaults. */
export function decodeObject(call: Call): Decoded {
  const content = parseBody(call);
  if (!isFields(content)) throw badRequest("Object 'Kind' is missing in the body of the request");
  checkKind(content, call.type);
  return shape(content, call);
}

function checkKind(content: Fields, type: ResourceType): void {
  const apiVersion = content['apiVersion'] as string | undefined;
  const kind = content['kind'] as string | undefined;
  content['apiVersion'] ??= apiVersionOf(type);
  content['kind'] ??= type.kind;
  if (kind !== undefined && kind !== type.kind)
    throw badRequest(
      `${kind} in version "${type.version}" cannot be handled as a ${type.kind}: no kind "${kind}" is registered for version "${apiVersion}"`,
    );
  if (apiVersion !== undefined && apiVersion !== apiVersionOf(type))
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${apiVersionOf(type)})`,
    );
}

/** Prunes unknown fields as fieldValidation asks, and sets defaults. */
export function shape(content: Fields, call: Pick<Call, 'type' | 'query'>): Decoded {
  const { type, query } = call;
  const pruned = { unknown: [] as string[], dropsNull: type.custom === undefined };
  const object = prune(content, type.schema, pruned) as KubeObject;
  if (!isFields(object.metadata)) (object as Fields)['metadata'] = {};
  const validation = query.get('fieldValidation') ?? 'Warn';
  const sentences = pruned.unknown.map((path) => `unknown field "${path}"`);
  if (validation === 'Strict' && sentences.length > 0)
    throw badRequest(`${cannotBeHandled(type)}: strict decoding error: ${sentences.join(', ')}`);
  refuseMismatch(object, type);
  setDefaults(object, type.schema);
  return { object, warnings: validation === 'Warn' ? sentences : [] };
}

const cannotBeHandled = ({ kind, version }: ResourceType): string =>
  `${kind} in version "${version}" cannot be handled as a ${kind}`;

/** Refuses a built-in object that does not fit its Go type. For custom resources only the metadata is checked. */
function refuseMismatch(object: KubeObject, type: ResourceType): void {
  const mismatch =
    type.custom === undefined
      ? mismatchOf(object, type.schema)
      : mismatchOf({ metadata: object.metadata }, type.schema);
  if (mismatch !== undefined) throw badRequest(`${cannotBeHandled(type)}: ${mismatch}`);
  if (type.custom === undefined) canonicalQuantities(object, type.schema);
}
