import { at, copy, type Fields, isFields, same, textOf } from '../json.ts';
import { hasStatus } from '../kinds/index.ts';
import { checkNameAndNamespace } from '../kinds/metadata.ts';
import type { KubeObject } from '../object.ts';
import { badRequest, type Cause, invalid, StatusError } from '../status-error.ts';
import type { ApiResponse, Call, WriteOptions } from '../verbs/call.ts';
import { writeOptionsOf } from '../verbs/call.ts';
import { createObject } from '../verbs/create.ts';
import { parseBody, shape } from '../verbs/decode.ts';
import { present, toStorage } from '../verbs/present.ts';
import { find, placeOf, updateObject } from '../verbs/update.ts';
import { lastAppliedFields } from './last-applied.ts';
import { isSame, type Manager, managerOf, managersIn, toManagedFields, withManager } from './managers.ts';
import { mergeApplied, without } from './merge.ts';
import { formatPath, isListItem, isPresenceMarker, type Leaves, leavesOf } from './paths.ts';

/** Server-side apply: merges a configuration into an object and tracks which manager owns which field. */
export function apply(call: Call): ApiResponse {
  const { state, type, target, query } = call;
  if (!query.get('fieldManager'))
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions', name: '' }, [
      { type: 'Required', path: 'fieldManager', detail: 'is required for apply patch' },
    ]);
  const body = parseBody({ ...call, contentType: 'yaml' });
  if (!isFields(body)) throw badRequest('an applied configuration must be an object');
  const writing: WriteOptions = { ...writeOptionsOf(call, 'PatchOptions'), operation: 'Apply' };
  const live = target.subresource === undefined ? state.store.get(placeOf(type, target)) : find(call);
  return live === undefined ? createApplied(call, body, writing) : mergeIntoLive(call, { live, body, writing });
}

function createApplied(call: Call, body: Fields, writing: WriteOptions): ApiResponse {
  const { state, type, target } = call;
  if (at(body, 'metadata', 'name') === undefined)
    throw badRequest(
      `the name of the object (${target.name ?? ''} based on URL) was undeterminable: name must be provided`,
    );
  const applied = copy(withPathNames(body, call));
  const { object, warnings } = shape(withPathNames(body, call), call);
  const created = createObject(state, { type, object, namespace: target.namespace, applied }, writing);
  return { code: 201, body: present(type, created), warnings };
}

/** The configuration with the kind and name of the path, which it may omit. */
function withPathNames(body: Fields, { type, target }: Call): Fields {
  const metadata = isFields(body['metadata']) ? body['metadata'] : {};
  checkNameAndNamespace({ ...metadata, name: textOf(metadata['name'] ?? target.name) }, target);
  if (metadata['managedFields'] !== undefined) throw badRequest('metadata.managedFields must be nil');
  return {
    ...withoutForeignStatus(body, { type, target }),
    kind: type.kind,
    metadata: { ...metadata, name: target.name },
  };
}

/** Drops the status, unless the status subresource is applied. */
function withoutForeignStatus(body: Fields, { type, target }: Pick<Call, 'type' | 'target'>): Fields {
  const { status: _, ...rest } = body;
  return hasStatus(type) && target.subresource === undefined ? rest : body;
}

interface Applied {
  readonly live: KubeObject;
  readonly body: Fields;
  readonly writing: WriteOptions;
}

function mergeIntoLive(call: Call, { live, body, writing }: Applied): ApiResponse {
  const { state, type, query } = call;
  const shown = present(type, live);
  const applied = leavesOf(withPathNames(body, call), type.schema);
  const own = managerOf(type, writing);
  const managers = managersIn(live.metadata.managedFields);
  const others = managers.filter(({ entry }) => !isSame(entry, own));
  const contested = conflicts(leavesOf(shown, type.schema), applied, others);
  const before = lastAppliedFields(shown, writing.manager, type.schema);
  const refused = contested.filter(({ path }) => !before.has(path));
  if (refused.length > 0 && query.get('force') !== 'true') throw conflictError(refused);
  const dropped = noLongerApplied(
    managers.find(({ entry }) => isSame(entry, own)),
    applied,
    others,
  );
  const merged = dropped.reduce(
    (object, path) => without(object, path, type.schema),
    mergeApplied(copy(shown), withPathNames(body, call), type.schema),
  ) as Fields;
  const { object, warnings } = shape(merged, call);
  const lost = new Set(contested.map(({ path }) => path));
  const left = managers.map(({ entry, paths }) => ({
    entry,
    paths: isSame(entry, own) ? paths : new Set([...paths].filter((path) => !lost.has(path))),
  }));
  const managedFields = toManagedFields(withManager(left, own, new Set(applied.keys())));
  Object.assign(object.metadata, { managedFields });
  const next = updateObject(state, { type, old: live, object: toStorage(type, object) }, writing);
  return { code: 200, body: present(type, next), warnings };
}

interface Conflict {
  readonly path: string;
  readonly manager: Manager['entry'];
}

/** Fields that another manager owns and has set to another value. */
const conflicts = (live: Leaves, applied: Leaves, others: readonly Manager[]): readonly Conflict[] =>
  others.flatMap(({ entry, paths }) =>
    [...paths]
      .filter((path) => applied.has(path) && !same(applied.get(path), live.get(path)))
      .map((path) => ({ path, manager: entry })),
  );

/** Fields that this manager applied before and no longer applies, and that no other manager owns. */
function noLongerApplied(own: Manager | undefined, applied: Leaves, others: readonly Manager[]): readonly string[] {
  const left = [...(own?.paths ?? [])].filter(
    (path) => !applied.has(path) && !others.some(({ paths }) => paths.has(path)),
  );
  // List items are removed whole and first: without their keys the paths below them lead nowhere.
  return [...left.filter(isListItem), ...left.filter((path) => !isPresenceMarker(path))];
}

function conflictError(conflicting: readonly Conflict[]): StatusError {
  const causes = conflicting.map(
    ({ path, manager }): Cause => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${managerName(manager)}`,
      field: formatPath(path),
    }),
  );
  const [first] = causes;
  const single = `${first?.message ?? ''}: ${first?.field ?? ''}`;
  const many = [...Map.groupBy(conflicting, ({ manager }) => managerName(manager))].map(
    ([name, ofManager]) =>
      `conflicts with ${name}:\n${ofManager.map(({ path }) => `- ${formatPath(path)}`).join('\n')}`,
  );
  const summary = causes.length === 1 ? `1 conflict: ${single}` : `${causes.length} conflicts: ${many.join('\n')}`;
  return new StatusError(409, 'Conflict', { message: `Apply failed with ${summary}`, details: { causes } });
}

function managerName({ manager, subresource, operation, apiVersion }: Manager['entry']): string {
  const part = subresource === undefined ? '' : ` with subresource "${subresource}"`;
  return `"${manager}"${part}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
