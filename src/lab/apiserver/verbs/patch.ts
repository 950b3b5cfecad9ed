import { applyPatch, type Operation } from 'rfc6902';
import { apply } from '../apply/apply.ts';
import { copy, type Fields, isFields } from '../json.ts';
import { checkAddress } from '../kinds/metadata.ts';
import type { KubeObject } from '../object.ts';
import { mergePatch } from '../patches/merge.ts';
import { strategicMerge } from '../patches/strategic.ts';
import { badRequest, invalid, Refusal, unsupportedMedia } from '../refusal.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type Answer, type Call, writingOf } from './call.ts';
import { parseBody, shape } from './decode.ts';
import { present, stored } from './present.ts';
import { find, updateObject } from './update.ts';

type Patching = (object: KubeObject, body: unknown, type: ResourceType) => Fields;

const patchings: Readonly<Record<string, Patching>> = {
  'application/json-patch+json': jsonPatched,
  'application/merge-patch+json': (object, body) => mergePatch(object, fieldsOrRefuse(body)),
  'application/strategic-merge-patch+json': (object, body, type) =>
    strategicMerge(object, fieldsOrRefuse(body), type.schema),
};

const applyType = /^application\/apply-patch\+(yaml|cbor)/;

/** Changes a part of an object, in one of four ways of saying which. */
export function patch(call: Call): Answer {
  if (applyType.test(mediaOf(call))) return apply(call);
  const patching = patchingOf(call);
  const old = find(call);
  const { type, state, target } = call;
  const { object, warnings } = shape(patching(copy(present(type, old))), call);
  checkAddress(object.metadata, target);
  const next = updateObject(state, { type, old, object: stored(type, object) }, writingOf(call, 'PatchOptions'));
  return { code: 200, body: present(type, next), warnings };
}

const mediaOf = ({ contentType }: Call): string => (contentType.split(';')[0] ?? '').trim();

/** What a patch makes of an object, which may be changed, in the three ways that only say what is to be different. */
export function patchingOf(call: Call): (object: KubeObject) => Fields {
  const media = mediaOf(call);
  const accepted = Object.keys(patchings).filter((one) => call.type.custom === undefined || !one.includes('strategic'));
  const patching = patchings[media];
  if (patching === undefined || !accepted.includes(media))
    throw unsupportedMedia([...accepted, 'application/apply-patch+yaml']);
  const body = parseBody({ ...call, contentType: 'json' });
  return (object) => patching(object, body, call.type);
}

function fieldsOrRefuse(body: unknown): Fields {
  if (!isFields(body)) throw badRequest('a patch must be an object');
  return body;
}

function jsonPatched(object: KubeObject, body: unknown, type: ResourceType): Fields {
  if (!Array.isArray(body)) throw badRequest('a JSON patch must be a list of operations');
  const operations = body as Operation[];
  for (const [index, error] of applyPatch(object, operations).entries()) {
    if (error === null) continue;
    const { op, path } = operations[index] ?? { op: '', path: '' };
    if (op === 'test')
      throw invalid({ group: type.group, kind: type.kind, name: object.metadata.name }, [
        { type: 'Invalid', path: 'patch', value: path, says: `testing path ${path} value failed` },
      ]);
    throw new Refusal(422, 'Invalid', {
      message: `the server rejected our request due to an error in our request: ${op} operation does not apply: ${error.message}`,
    });
  }
  return object;
}
