import { trackApplied, trackUpdate } from '../apply/track.ts';
import { at, type Fields } from '../json.ts';
import { finalizerErrors } from '../kinds/finalizers.ts';
import { hasStatus, strategyOf } from '../kinds/index.ts';
import { identify, metadataErrors } from '../kinds/metadata.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import { alreadyExists, badRequest, type FieldError, forbidden, invalid, notFound } from '../status-error.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type ApiResponse, type Call, namedOf, type WriteOptions, writeOptionsOf } from './call.ts';
import { customErrors } from './custom-errors.ts';
import { decodeObject } from './decode.ts';
import { present, toStorage } from './present.ts';

export function create(call: Call): ApiResponse {
  const { object, warnings } = decodeObject(call);
  const { state, type, target } = call;
  if (type.namespaced && target.namespace === undefined)
    throw badRequest('an empty namespace may not be set during creation');
  const created = createObject(state, { type, object, namespace: target.namespace }, writeOptionsOf(call));
  return { code: 201, body: present(type, created), warnings };
}

export interface NewObject {
  readonly type: ResourceType;
  readonly object: KubeObject;
  readonly namespace?: string | undefined;
  /** The applied configuration, if the object is created by server-side apply. */
  readonly applied?: Fields;
}

/** Creates an object for a request or for the server itself. */
export function createObject(state: ServerState, created: NewObject, writing: WriteOptions): KubeObject {
  const { type, object, namespace, applied } = created;
  identify(object, type.namespaced ? namespace : undefined);
  checkNamespace(state, type, object);
  prepare(state, type, object);
  const { name, namespace: where = '' } = object.metadata;
  const errors = errorsIn(state, type, object);
  if (errors.length > 0) throw invalid({ group: type.group, kind: type.kind, name }, errors);
  strategyOf(type).admit?.(object, state);
  const place = { collection: type.collection, namespace: where, name };
  if (state.store.get(place) !== undefined) throw alreadyExists(namedOf(type, name));
  const stored = toStorage(type, object);
  if (applied === undefined) trackUpdate(stored, { type, writing });
  else trackApplied(stored, applied, { type, writing });
  return writing.dryRun ? stored : state.store.put(place, stored);
}

/** Sets the fields that the server decides. */
function prepare(state: ServerState, type: ResourceType, object: KubeObject): void {
  const strategy = strategyOf(type);
  if (hasStatus(type) && strategy.keepsStatus !== true) delete object['status'];
  strategy.prepare?.(object, state);
  if (strategy.status !== undefined) object['status'] = strategy.status(object);
  if (strategy.hasGeneration === true) object.metadata.generation = 1;
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

/** Refuses objects in a namespace that does not exist or is being deleted. */
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
