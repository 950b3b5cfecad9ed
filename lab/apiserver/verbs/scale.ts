import { at, copy, type Fields, fieldsOf, numberOf, put, textOf } from '../json.ts';
import { checkNameAndNamespace } from '../kinds/metadata.ts';
import { notNegativeDetail } from '../kinds/numbers.ts';
import type { KubeObject } from '../object.ts';
import { badRequest, invalid, type StatusError, stale } from '../status-error.ts';
import { selectorText } from '../tables/workloads.ts';
import type { ResourceType, ScalePaths } from '../types/resource-type.ts';
import { type ApiResponse, type Call, namedOf, writeOptionsOf } from './call.ts';
import { parseBody } from './decode.ts';
import { patchFunctionOf } from './patch.ts';
import { find, updateObject } from './update.ts';

const builtIn: ScalePaths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

const pathsOf = ({ custom }: ResourceType): ScalePaths => custom?.scale ?? builtIn;
const fieldsIn = (path: string): readonly string[] => path.split('.').filter(Boolean);

/** The selector of a custom resource is text, that of a built-in kind an object. */
function selectorOf({ custom }: ResourceType, object: KubeObject): string {
  const path = custom?.scale?.labelSelectorPath;
  if (custom === undefined) return selectorText(at(object, 'spec', 'selector'));
  return path === undefined ? '' : textOf(at(object, ...fieldsIn(path)));
}

/** The Scale of an object. */
function scaleOf(type: ResourceType, object: KubeObject): Fields {
  const { specReplicasPath, statusReplicasPath } = pathsOf(type);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = selectorOf(type, object);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: numberOf(at(object, ...fieldsIn(specReplicasPath))) },
    status: { replicas: numberOf(at(object, ...fieldsIn(statusReplicasPath))), ...(selector !== '' && { selector }) },
  };
}

export const getScale = (call: Call): ApiResponse => ({ code: 200, body: scaleOf(call.type, find(call)) });

export function updateScale(call: Call): ApiResponse {
  return setScale(call, fieldsOf(parseBody(call)));
}

export function patchScale(call: Call): ApiResponse {
  const applyTo = patchFunctionOf(call);
  return setScale(call, applyTo(scaleOf(call.type, find(call)) as KubeObject));
}

function setScale(call: Call, scale: Fields): ApiResponse {
  const { type, state, target } = call;
  const replicas = replicasIn(scale);
  checkNameAndNamespace(fieldsOf(scale['metadata']), target);
  const old = find(call);
  const version = at(scale, 'metadata', 'resourceVersion');
  if (typeof version === 'string' && version !== '' && version !== old.metadata.resourceVersion)
    throw stale(namedOf(type, old.metadata.name));
  if (replicas < 0) throw negativeReplicas(call, replicas);
  const object = copy(old);
  put(object, fieldsIn(pathsOf(type).specReplicasPath), replicas);
  const { subresource: _, ...writing } = writeOptionsOf(call, 'UpdateOptions');
  return { code: 200, body: scaleOf(type, updateObject(state, { type, old, object }, writing)) };
}

function replicasIn(scale: Fields): number {
  const replicas = at(scale, 'spec', 'replicas') ?? 0;
  if (Number.isInteger(replicas)) return Number(replicas);
  const found = typeof replicas === 'number' ? `number ${replicas}` : typeof replicas;
  throw badRequest(
    `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ${found} into Go struct field ScaleSpec.spec.replicas of type int32`,
  );
}

/** The error for negative replicas. For a custom resource it names the field that holds the number. */
function negativeReplicas({ type, target: { name = '' } }: Call, value: number): StatusError {
  if (type.custom === undefined)
    return invalid({ group: 'autoscaling', kind: 'Scale', name }, [
      { type: 'Invalid', path: 'spec.replicas', value, detail: notNegativeDetail },
    ]);
  return invalid({ group: type.group, kind: type.kind, name }, [
    { type: 'Invalid', path: pathsOf(type).specReplicasPath, value, detail: 'should be a non-negative integer' },
  ]);
}
