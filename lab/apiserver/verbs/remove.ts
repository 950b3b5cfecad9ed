import { type Fields, isFields, listOf, same } from '../json.ts';
import { graceSeconds } from '../kinds/grace.ts';
import { type KubeObject, timeOf } from '../object.ts';
import type { ServerState } from '../state.ts';
import { badRequest, conflict, type FieldError, forbidden, invalid, supported } from '../status-error.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type ApiResponse, type Call, dryRunErrors, namedOf } from './call.ts';
import { parseBody } from './decode.ts';
import { selection } from './list.ts';
import { present } from './present.ts';
import { find, placeOf } from './update.ts';

export interface RemoveOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly dryRun?: boolean;
}

export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

export function remove(call: Call): ApiResponse {
  const { type, state } = call;
  const options = optionsOf(call);
  const object = find(call);
  if (isProtected(type, object))
    throw forbidden(namedOf(type, object.metadata.name), 'this namespace may not be deleted');
  const remaining = removeObject(state, { type, object }, options);
  if (remaining !== undefined) return { code: 200, body: present(type, remaining) };
  const { name, uid } = object.metadata;
  const details = { name, ...(type.group !== '' && { group: type.group }), kind: type.plural, uid };
  return { code: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}

const protectedNamespaces = new Set(['default', 'kube-system', 'kube-public']);

/** The namespaces that every cluster needs cannot be deleted. */
const isProtected = ({ collection }: ResourceType, { metadata }: KubeObject): boolean =>
  collection === '/namespaces' && protectedNamespaces.has(metadata.name);

export function removeCollection(call: Call): ApiResponse {
  const { state, type, target } = call;
  const options = optionsOf(call);
  const selects = selection(call);
  const chosen = state.store.list(type.collection, target.namespace).filter(selects);
  const items = chosen.map((object) => present(type, removeObject(state, { type, object }, options) ?? object));
  const metadata = { resourceVersion: String(state.store.version) };
  return { code: 200, body: { kind: type.listKind, apiVersion: items[0]?.apiVersion ?? 'v1', metadata, items } };
}

/** Delete options come from the body or the query; the body takes precedence. */
function optionsOf(call: Call): RemoveOptions {
  const body = parseBody(call);
  const { query } = call;
  const options: Fields = isFields(body) ? body : {};
  const policy = query.get('propagationPolicy');
  const dryRun = [...query.getAll('dryRun'), ...listOf(options['dryRun'])];
  const asked = { ...gracePeriodIn(query), ...(policy !== null && { propagationPolicy: policy }), ...options };
  refuseInvalidOptions(asked, dryRun);
  return {
    ...asked,
    ...(options['orphanDependents'] === true && { propagationPolicy: 'Orphan' }),
    dryRun: dryRun.length > 0,
  };
}

function gracePeriodIn(query: URLSearchParams): Pick<RemoveOptions, 'gracePeriodSeconds'> {
  const text = query.get('gracePeriodSeconds');
  if (text === null) return {};
  if (!/^[-+]?[0-9]+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return { gracePeriodSeconds: Number(text) };
}

const policies = ['Foreground', 'Background', 'Orphan'];

function refuseInvalidOptions(
  { propagationPolicy: value, orphanDependents }: Fields,
  dryRun: readonly unknown[],
): void {
  const errors: FieldError[] = [];
  const path = 'propagationPolicy';
  if (value !== undefined && orphanDependents !== undefined)
    errors.push({
      type: 'Invalid',
      path,
      value,
      detail: 'orphanDependents and deletionPropagation cannot be both set',
    });
  if (value && !policies.some((policy) => policy === value))
    errors.push({ type: 'NotSupported', path, value, detail: supported([...policies, 'nil']) });
  errors.push(...dryRunErrors(dryRun));
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions', name: '' }, errors);
}

export interface Removal {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** Deletes an object or marks it for deletion; returns the object if it remains. */
export function removeObject(
  state: ServerState,
  { type, object }: Removal,
  options: RemoveOptions = {},
): KubeObject | undefined {
  checkPreconditions(type, object, options);
  const marked = markedForRemoval(type, object, options);
  const place = placeOf(type, object.metadata);
  const remains = mustWait(type, marked);
  if (options.dryRun) return remains ? marked : undefined;
  if (remains) return same(marked, object) ? object : state.store.put(place, marked);
  state.store.remove(place);
  return undefined;
}

/**
 * True if deletion has to wait: a namespace until it is empty, an object with finalizers, a pod until its kubelet has
 * stopped it.
 */
const mustWait = ({ collection }: ResourceType, { metadata }: KubeObject): boolean =>
  collection === '/namespaces' ||
  (metadata.finalizers ?? []).length > 0 ||
  (metadata.deletionGracePeriodSeconds ?? 0) > 0;

function checkPreconditions(type: ResourceType, { metadata }: KubeObject, { preconditions = {} }: RemoveOptions): void {
  const { uid, resourceVersion } = preconditions;
  const refuse = (field: string, asked: string, found: string): never => {
    throw conflict(
      namedOf(type, metadata.name),
      `Precondition failed: ${field} in precondition: ${asked}, ${field} in object meta: ${found}`,
    );
  };
  if (uid !== undefined && uid !== metadata.uid) refuse('UID', uid, metadata.uid);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    refuse('ResourceVersion', resourceVersion, metadata.resourceVersion);
}

/** The object with its deletion timestamp, grace period and finalizers. */
function markedForRemoval(type: ResourceType, object: KubeObject, options: RemoveOptions): KubeObject {
  const { metadata } = object;
  const seconds = graceSeconds(type, object, options.gracePeriodSeconds);
  const finalizers = finalizersFor(metadata.finalizers ?? [], options.propagationPolicy);
  const isSooner = seconds < (metadata.deletionGracePeriodSeconds ?? Number.POSITIVE_INFINITY);
  const isFirst = metadata.deletionTimestamp === undefined;
  if (!isFirst && !isSooner) return { ...object, metadata: { ...metadata, finalizers } };
  const counted = isFirst && metadata.generation !== undefined && { generation: metadata.generation + 1 };
  return {
    ...object,
    ...terminating(type, object),
    metadata: {
      ...metadata,
      ...(finalizers.length > 0 && { finalizers }),
      ...counted,
      deletionTimestamp: timeOf(new Date(Date.now() + seconds * 1000)),
      deletionGracePeriodSeconds: seconds,
    },
  };
}

const terminating = (type: ResourceType, object: KubeObject): Fields =>
  type.collection === '/namespaces' ? { status: { ...(object['status'] as Fields), phase: 'Terminating' } } : {};

function finalizersFor(finalizers: readonly string[], policy: string | undefined): readonly string[] {
  const others = finalizers.filter((one) => one !== orphanFinalizer && one !== foregroundFinalizer);
  if (policy === 'Orphan') return [...others, orphanFinalizer];
  if (policy === 'Foreground') return [...others, foregroundFinalizer];
  return policy === 'Background' ? others : finalizers;
}
