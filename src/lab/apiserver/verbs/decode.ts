import { load } from 'js-yaml';
import { fromProtobuf, isProtobuf } from '../http/protobuf.ts';
import { type Fields, isFields } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { badRequest, unsupportedMedia } from '../refusal.ts';
import { setDefaults } from '../schema/defaults.ts';
import { misfitOf } from '../schema/misfit.ts';
import { prune } from '../schema/prune.ts';
import { canonicalQuantities } from '../schema/quantities.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';
import type { Call } from './call.ts';

/** The JSON or YAML of a request. */
export function parseBody({ body, contentType }: Pick<Call, 'body' | 'contentType'>): unknown {
  if (isProtobuf(body)) return fromProtobuf(body);
  const text = body.toString('utf8').trim();
  if (text === '') return undefined;
  if (!/json|yaml|^$/.test(contentType)) throw unsupportedMedia(['application/json', 'application/yaml']);
  try {
    return contentType.includes('yaml') && !text.startsWith('{') ? load(text) : JSON.parse(text);
  } catch (error) {
    throw badRequest(`the object provided is unrecognized: ${error instanceof Error ? error.message : ''}`);
  }
}

export interface Decoded {
  readonly object: KubeObject;
  readonly warnings: readonly string[];
}

/** The object in the body of a request, checked for being of the right kind and shape, with defaults set. */
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

/** Drops what is unknown, in the way the request asks for, and sets defaults. */
export function shape(content: Fields, call: Pick<Call, 'type' | 'query'>): Decoded {
  const { type, query } = call;
  const pruned = { unknown: [] as string[], dropsNull: type.custom === undefined };
  const object = prune(content, type.schema, pruned) as KubeObject;
  if (!isFields(object.metadata)) (object as Fields)['metadata'] = {};
  const validation = query.get('fieldValidation') ?? 'Warn';
  const sentences = pruned.unknown.map((path) => `unknown field "${path}"`);
  if (validation === 'Strict' && sentences.length > 0)
    throw badRequest(`${cannotBeHandled(type)}: strict decoding error: ${sentences.join(', ')}`);
  refuseMisfit(object, type);
  setDefaults(object, type.schema);
  return { object, warnings: validation === 'Warn' ? sentences : [] };
}

const cannotBeHandled = ({ kind, version }: ResourceType): string =>
  `${kind} in version "${version}" cannot be handled as a ${kind}`;

/** Built-in kinds are read into types, and what does not fit is no object at all; of custom ones this holds for the metadata. */
function refuseMisfit(object: KubeObject, type: ResourceType): void {
  const misfit =
    type.custom === undefined ? misfitOf(object, type.schema) : misfitOf({ metadata: object.metadata }, type.schema);
  if (misfit !== undefined) throw badRequest(`${cannotBeHandled(type)}: ${misfit}`);
  if (type.custom === undefined) canonicalQuantities(object, type.schema);
}
