import { at, copy, type Fields, isFields, same, textOf } from '../json.ts';
import { hasStatus } from '../kinds/index.ts';
import { checkAddress } from '../kinds/metadata.ts';
import type { KubeObject } from '../object.ts';
import { badRequest, type Cause, invalid, Refusal } from '../refusal.ts';
import type { Answer, Call, Writing } from '../verbs/call.ts';
import { writingOf } from '../verbs/call.ts';
import { createObject } from '../verbs/create.ts';
import { parseBody, shape } from '../verbs/decode.ts';
import { present, stored } from '../verbs/present.ts';
import { find, placeOf, updateObject } from '../verbs/update.ts';
import { appliedBefore } from './last-applied.ts';
import { isSame, type Manager, managerOf, managersIn, withManager, writtenDown } from './managers.ts';
import { overlaid, without } from './merge.ts';
import { isListItem, isMark, type Leaves, leavesOf, shownPath } from './paths.ts';

/** Server-side apply: makes an object say what its user says, and remembers what that user has a say in. */
export function apply(call: Call): Answer {
  const { state, type, target, query } = call;
  if (!query.get('fieldManager'))
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions', name: '' }, [
      { type: 'Required', path: 'fieldManager', says: 'is required for apply patch' },
    ]);
  const body = parseBody({ ...call, contentType: 'yaml' });
  if (!isFields(body)) throw badRequest('an applied configuration must be an object');
  const writing: Writing = { ...writingOf(call, 'PatchOptions'), operation: 'Apply' };
  const live = target.subresource === undefined ? state.store.get(placeOf(type, target)) : find(call);
  return live === undefined ? createApplied(call, body, writing) : mergeApplied(call, { live, body, writing });
}

function createApplied(call: Call, body: Fields, writing: Writing): Answer {
  const { state, type, target } = call;
  if (at(body, 'metadata', 'name') === undefined)
    throw badRequest(
      `the name of the object (${target.name ?? ''} based on URL) was undeterminable: name must be provided`,
    );
  const applied = copy(named(body, call));
  const { object, warnings } = shape(named(body, call), call);
  const made = createObject(state, { type, object, namespace: target.namespace, applied }, writing);
  return { code: 201, body: present(type, made), warnings };
}

/** What is applied need not repeat what the path says. */
function named(body: Fields, { type, target }: Call): Fields {
  const metadata = isFields(body['metadata']) ? body['metadata'] : {};
  checkAddress({ ...metadata, name: textOf(metadata['name'] ?? target.name) }, target);
  if (metadata['managedFields'] !== undefined) throw badRequest('metadata.managedFields must be nil');
  return { ...withinReach(body, { type, target }), kind: type.kind, metadata: { ...metadata, name: target.name } };
}

/** Nobody has a say in the status who does not speak of just that. */
function withinReach(body: Fields, { type, target }: Pick<Call, 'type' | 'target'>): Fields {
  const { status: _, ...rest } = body;
  return hasStatus(type) && target.subresource === undefined ? rest : body;
}

interface Applied {
  readonly live: KubeObject;
  readonly body: Fields;
  readonly writing: Writing;
}

function mergeApplied(call: Call, { live, body, writing }: Applied): Answer {
  const { state, type, query } = call;
  const shown = present(type, live);
  const applied = leavesOf(named(body, call), type.schema);
  const own = managerOf(type, writing);
  const managers = managersIn(live.metadata.managedFields);
  const others = managers.filter(({ entry }) => !isSame(entry, own));
  const contested = conflicts(leavesOf(shown, type.schema), applied, others);
  const before = appliedBefore(shown, writing.manager, type.schema);
  const refused = contested.filter(({ path }) => !before.has(path));
  if (refused.length > 0 && query.get('force') !== 'true') throw refusal(refused);
  const dropped = abandoned(
    managers.find(({ entry }) => isSame(entry, own)),
    applied,
    others,
  );
  const merged = dropped.reduce(
    (object, path) => without(object, path, type.schema),
    overlaid(copy(shown), named(body, call), type.schema),
  ) as Fields;
  const { object, warnings } = shape(merged, call);
  const lost = new Set(contested.map(({ path }) => path));
  const left = managers.map(({ entry, paths }) => ({
    entry,
    paths: isSame(entry, own) ? paths : new Set([...paths].filter((path) => !lost.has(path))),
  }));
  const managedFields = writtenDown(withManager(left, own, new Set(applied.keys())));
  Object.assign(object.metadata, { managedFields });
  const next = updateObject(state, { type, old: live, object: stored(type, object) }, writing);
  return { code: 200, body: present(type, next), warnings };
}

interface Conflict {
  readonly path: string;
  readonly manager: Manager['entry'];
}

/** Fields that somebody else has set to another value. */
const conflicts = (live: Leaves, applied: Leaves, others: readonly Manager[]): readonly Conflict[] =>
  others.flatMap(({ entry, paths }) =>
    [...paths]
      .filter((path) => applied.has(path) && !same(applied.get(path), live.get(path)))
      .map((path) => ({ path, manager: entry })),
  );

/** Fields that were applied before and are not any more, and that nobody else has set. */
function abandoned(own: Manager | undefined, applied: Leaves, others: readonly Manager[]): readonly string[] {
  const left = [...(own?.paths ?? [])].filter(
    (path) => !applied.has(path) && !others.some(({ paths }) => paths.has(path)),
  );
  // Items of lists go whole, and first: without their keys they could not be found any more.
  return [...left.filter(isListItem), ...left.filter((path) => !isMark(path))];
}

function refusal(conflicting: readonly Conflict[]): Refusal {
  const causes = conflicting.map(
    ({ path, manager }): Cause => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${shownManager(manager)}`,
      field: shownPath(path),
    }),
  );
  const [first] = causes;
  const single = `${first?.message ?? ''}: ${first?.field ?? ''}`;
  const many = [...Map.groupBy(conflicting, ({ manager }) => shownManager(manager))].map(
    ([who, theirs]) => `conflicts with ${who}:\n${theirs.map(({ path }) => `- ${shownPath(path)}`).join('\n')}`,
  );
  const says = causes.length === 1 ? `1 conflict: ${single}` : `${causes.length} conflicts: ${many.join('\n')}`;
  return new Refusal(409, 'Conflict', { message: `Apply failed with ${says}`, details: { causes } });
}

function shownManager({ manager, subresource, operation, apiVersion }: Manager['entry']): string {
  const part = subresource === undefined ? '' : ` with subresource "${subresource}"`;
  return `"${manager}"${part}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
