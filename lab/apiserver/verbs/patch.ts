import { applyPatch, type Operation } from 'rfc6902';
import { apply } from '../apply/apply.ts';
import { copy, type Fields, isFields } from '../json.ts';
import { checkNameAndNamespace } from '../kinds/metadata.ts';
import type { KubeObject } from '../object.ts';
import { mergePatch } from '../patches/merge.ts';
import { strategicMerge } from '../patches/strategic.ts';
import { badRequest, invalid, StatusError, unsupportedMedia } from '../status-error.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type ApiResponse, type Call, writeOptionsOf } from './call.ts';
import { parseBody, shape } from './decode.ts';
import { present, toStorage } from './present.ts';
import { find, updateObject } from './update.ts';

type PatchFunction = (object: KubeObject, body: unknown, type: ResourceType) => Fields;

const patchFunctions: Readonly<Record<string, PatchFunction>> = {
  'application/json-patch+json': jsonPatch,
  'application/merge-patch+json': (object, body) => mergePatch(object, fieldsOrRefuse(body)),
  'application/strategic-merge-patch+json': (object, body, type) =>
    strategicMerge(object, fieldsOrRefuse(body), type.schema),
};

const applyType = /^application\/apply-patch\+(yaml|cbor)/;

/** Patches an object by JSON patch, merge patch, strategic merge patch or server-side apply. */
export function patch(call: Call): ApiResponse {
  if (applyType.test(mediaOf(call))) return apply(call);
  const applyTo = patchFunctionOf(call);
  const old = find(call);
  const { type, state, target } = call;
  const { object, warnings } = shape(applyTo(copy(present(type, old))), call);
  checkNameAndNamespace(object.metadata, target);
  const next = updateObject(
    state,
    { type, old, object: toStorage(type, object) },
    writeOptionsOf(call, 'PatchOptions'),
  );
  return { code: 200, body: present(type, next), warnings };
}

const mediaOf = ({ contentType }: Call): string => (contentType.split(';')[0] ?? '').trim();

/** The function that applies the request's JSON, merge or strategic merge patch to an object. */
export function patchFunctionOf(call: Call): (object: KubeObject) => Fields {
  const media = mediaOf(call);
  const accepted = Object.keys(patchFunctions).filter(
    (one) => call.type.custom === undefined || !one.includes('strategic'),
  );
  const applyTo = patchFunctions[media];
  if (applyTo === undefined || !accepted.includes(media))
    throw unsupportedMedia([...accepted, 'application/apply-patch+yaml']);
  const body = parseBody({ ...call, contentType: 'json' });
  return (object) => applyTo(object, body, call.type);
}

function fieldsOrRefuse(body: unknown): Fields {
  if (!isFields(body)) throw badRequest('a patch must be an object');
  return body;
}

function jsonPatch(object: KubeObject, body: unknown, type: ResourceType): Fields {
  if (!Array.isArray(body)) throw badRequest('a JSON patch must be a list of operations');
  const operations = body as Operation[];
  for (const [index, error] of applyPatch(object, operations).entries()) {
    if (error === null) continue;
    const { op, path } = operations[index] ?? { op: '', path: '' };
    if (op === 'test')
      throw invalid({ group: type.group, kind: type.kind, name: object.metadata.name }, [
        { type: 'Invalid', path: 'patch', value: path, detail: `testing path ${path} value failed` },
      ]);
    throw new StatusError(422, 'Invalid', {
      message: `the server rejected our request due to an error in our request: ${op} operation does not apply: ${error.message}`,
    });
  }
  return object;
}
