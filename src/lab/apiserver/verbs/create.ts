import { trackApplied, trackUpdate } from '../apply/track.ts';
import { at, type Fields } from '../json.ts';
import { finalizerErrors } from '../kinds/finalizers.ts';
import { hasStatus, strategyOf } from '../kinds/index.ts';
import { identify, metadataErrors } from '../kinds/metadata.ts';
import type { KubeObject } from '../object.ts';
import { alreadyExists, badRequest, type FieldError, forbidden, invalid, notFound } from '../refusal.ts';
import type { ServerState } from '../state.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type Answer, type Call, namedOf, type Writing, writingOf } from './call.ts';
import { customErrors } from './custom-errors.ts';
import { decodeObject } from './decode.ts';
import { present, stored } from './present.ts';

export function create(call: Call): Answer {
  const { object, warnings } = decodeObject(call);
  const { state, type, target } = call;
  if (type.namespaced && target.namespace === undefined)
    throw badRequest('an empty namespace may not be set during creation');
  const made = createObject(state, { type, object, namespace: target.namespace }, writingOf(call));
  return { code: 201, body: present(type, made), warnings };
}

export interface NewObject {
  readonly type: ResourceType;
  readonly object: KubeObject;
  readonly namespace?: string | undefined;
  /** What was said of it, where it is made by being applied. */
  readonly applied?: Fields;
}

/** Makes an object, by whoever asks for it. */
export function createObject(state: ServerState, made: NewObject, writing: Writing): KubeObject {
  const { type, object, namespace, applied } = made;
  identify(object, type.namespaced ? namespace : undefined);
  checkNamespace(state, type, object);
  prepare(state, type, object);
  const { name, namespace: where = '' } = object.metadata;
  const errors = errorsIn(state, type, object);
  if (errors.length > 0) throw invalid({ group: type.group, kind: type.kind, name }, errors);
  strategyOf(type).admit?.(object, state);
  const place = { collection: type.collection, namespace: where, name };
  if (state.store.get(place) !== undefined) throw alreadyExists(namedOf(type, name));
  const kept = stored(type, object);
  if (applied === undefined) trackUpdate(kept, { type, writing });
  else trackApplied(kept, applied, { type, writing });
  return writing.dryRun ? kept : state.store.put(place, kept);
}

/** Sets what the server decides. */
function prepare(state: ServerState, type: ResourceType, object: KubeObject): void {
  const strategy = strategyOf(type);
  if (hasStatus(type) && strategy.keepsStatus !== true) delete object['status'];
  strategy.prepare?.(object, state);
  if (strategy.status !== undefined) object['status'] = strategy.status(object);
  if (strategy.counts === true) object.metadata.generation = 1;
}

function errorsIn(state: ServerState, type: ResourceType, object: KubeObject): readonly FieldError[] {
  const { checkName, validate } = strategyOf(type);
  return [
    ...metadataErrors(object, checkName),
    ...finalizerErrors(object, type),
    ...(validate?.(object, undefined, state) ?? []),
    ...customErrors(type, object),
  ];
}

/** Nothing can be made in a namespace that is not there, or that is about to go. */
function checkNamespace(state: ServerState, type: ResourceType, object: KubeObject): void {
  const { namespace, name } = object.metadata;
  if (namespace === undefined) return;
  const found = state.store.get({ collection: '/namespaces', namespace: '', name: namespace });
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces', name: namespace });
  if (at(found, 'metadata', 'deletionTimestamp') !== undefined)
    throw forbidden(
      namedOf(type, name),
      `unable to create new content in namespace ${namespace} because it is being terminated`,
    );
}
