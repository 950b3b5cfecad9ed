import { at, copy, type Fields, fieldsOf, numberOf, put, textOf } from '../json.ts';
import { checkAddress } from '../kinds/metadata.ts';
import { negativeWords } from '../kinds/numbers.ts';
import type { KubeObject } from '../object.ts';
import { badRequest, invalid, type Refusal, stale } from '../refusal.ts';
import { selectorText } from '../tables/workloads.ts';
import type { ResourceType, ScalePaths } from '../types/resource-type.ts';
import { type Answer, type Call, namedOf, writingOf } from './call.ts';
import { parseBody } from './decode.ts';
import { patchingOf } from './patch.ts';
import { find, updateObject } from './update.ts';

const builtIn: ScalePaths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

const pathsOf = ({ custom }: ResourceType): ScalePaths => custom?.scale ?? builtIn;
const fieldsIn = (path: string): readonly string[] => path.split('.').filter(Boolean);

/** The selector is text for custom resources, and an object for those built in. */
function selectorOf({ custom }: ResourceType, object: KubeObject): string {
  const path = custom?.scale?.labelSelectorPath;
  if (custom === undefined) return selectorText(at(object, 'spec', 'selector'));
  return path === undefined ? '' : textOf(at(object, ...fieldsIn(path)));
}

/** How many there are and how many there should be, in the one shape that all kinds share. */
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

export const getScale = (call: Call): Answer => ({ code: 200, body: scaleOf(call.type, find(call)) });

export function updateScale(call: Call): Answer {
  return setScale(call, fieldsOf(parseBody(call)));
}

export function patchScale(call: Call): Answer {
  const patching = patchingOf(call);
  return setScale(call, patching(scaleOf(call.type, find(call)) as KubeObject));
}

function setScale(call: Call, scale: Fields): Answer {
  const { type, state, target } = call;
  const replicas = replicasIn(scale);
  checkAddress(fieldsOf(scale['metadata']), target);
  const old = find(call);
  const version = at(scale, 'metadata', 'resourceVersion');
  if (typeof version === 'string' && version !== '' && version !== old.metadata.resourceVersion)
    throw stale(namedOf(type, old.metadata.name));
  if (replicas < 0) throw lessThanNothing(call, replicas);
  const object = copy(old);
  put(object, fieldsIn(pathsOf(type).specReplicasPath), replicas);
  const { subresource: _, ...writing } = writingOf(call, 'UpdateOptions');
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

/** Of a custom resource, the field is meant that holds the number. */
function lessThanNothing({ type, target: { name = '' } }: Call, value: number): Refusal {
  if (type.custom === undefined)
    return invalid({ group: 'autoscaling', kind: 'Scale', name }, [
      { type: 'Invalid', path: 'spec.replicas', value, says: negativeWords },
    ]);
  return invalid({ group: type.group, kind: type.kind, name }, [
    { type: 'Invalid', path: pathsOf(type).specReplicasPath, value, says: 'should be a non-negative integer' },
  ]);
}
