import { at, copy, type Fields, fieldsOf, numberOf, put, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { mergePatch } from '../patches/merge.ts';
import { badRequest, stale } from '../refusal.ts';
import { selectorText } from '../tables/workloads.ts';
import type { ResourceType, ScalePaths } from '../types/resource-type.ts';
import { type Answer, type Call, namedOf, writingOf } from './call.ts';
import { parseBody } from './decode.ts';
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
  const body = fieldsOf(parseBody({ ...call, contentType: 'json' }));
  return setScale(call, mergePatch(scaleOf(call.type, find(call)), body));
}

function setScale(call: Call, scale: Fields): Answer {
  const { type, state } = call;
  const old = find(call);
  const version = at(scale, 'metadata', 'resourceVersion');
  if (typeof version === 'string' && version !== '' && version !== old.metadata.resourceVersion)
    throw stale(namedOf(type, old.metadata.name));
  const replicas = at(scale, 'spec', 'replicas') ?? 0;
  if (!Number.isInteger(replicas) || Number(replicas) < 0)
    throw badRequest(
      `Scale in version "v1" cannot be handled as a Scale: spec.replicas must be a number that is not negative`,
    );
  const object = copy(old);
  put(object, fieldsIn(pathsOf(type).specReplicasPath), replicas);
  const { subresource: _, ...writing } = writingOf(call);
  return { code: 200, body: scaleOf(type, updateObject(state, { type, old, object }, writing)) };
}
