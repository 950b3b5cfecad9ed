import { type Fields, isFields, same } from '../json.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from '../schema/schema.ts';
import { badRequest } from '../status-error.ts';

const deletes = '$deleteFromPrimitiveList/';
const orders = '$setElementOrder/';

/** A strategic merge patch: like a JSON merge patch, and lists are merged by the key in the schema. */
export function strategicMerge(target: unknown, patch: Fields, schema: Schema): Fields {
  const shape = resolved(schema);
  if (patch['$patch'] === 'replace') return withoutDirectives(patch);
  if (patch['$patch'] === 'delete') return {};
  const merged = retained(isFields(target) ? { ...target } : {}, patch['$retainKeys']);
  for (const [field, content] of Object.entries(withoutDirectives(patch))) {
    if (content === null) delete merged[field];
    else
      merged[field] = mergedField(merged[field], content, { schema: schemaOfField(shape, field) ?? {}, patch, field });
  }
  removePrimitives(merged, patch);
  orderOnly(merged, patch, shape);
  return merged;
}

const withoutDirectives = (patch: Fields): Fields =>
  Object.fromEntries(Object.entries(patch).filter(([field]) => !field.startsWith('$')));

/** Keeps only the named fields, for unions. */
function retained(target: Fields, keys: unknown): Fields {
  if (!Array.isArray(keys)) return target;
  return Object.fromEntries(Object.entries(target).filter(([field]) => keys.includes(field)));
}

interface FieldContext {
  readonly schema: Schema;
  readonly patch: Fields;
  readonly field: string;
}

function mergedField(current: unknown, content: unknown, { schema, patch, field }: FieldContext): unknown {
  if (isFields(content)) return strategicMerge(current, content, schema);
  if (!Array.isArray(content)) return content;
  if (!(schema['x-kubernetes-patch-strategy'] ?? '').split(',').includes('merge'))
    return withoutListDirectives(content);
  const server = Array.isArray(current) ? current : [];
  const order = patch[`${orders}${field}`] ?? content;
  return mergedList(server, content, { schema, order });
}

function mergedList(
  server: readonly unknown[],
  patches: readonly unknown[],
  { schema, order }: { schema: Schema; order: unknown },
): unknown {
  const key = schema['x-kubernetes-patch-merge-key'];
  const merged = key === undefined ? primitivesMerged(server, patches) : mergedByKey(server, patches, { key, schema });
  return ordered(merged, { order, server, key });
}

const withoutListDirectives = (list: readonly unknown[]): readonly unknown[] =>
  list.filter((item) => !isFields(item) || item['$patch'] === undefined);

const primitivesMerged = (list: readonly unknown[], more: readonly unknown[]): readonly unknown[] => [
  ...list,
  ...more.filter((item) => !list.some((other) => same(item, other))),
];

function mergedByKey(
  list: readonly unknown[],
  patches: readonly unknown[],
  { key, schema }: { key: string; schema: Schema },
): readonly unknown[] {
  const items = patches.filter(isFields);
  if (items.some((item) => item['$patch'] === 'replace')) return withoutListDirectives(items);
  const merged = [...list];
  for (const item of items) {
    if (item[key] === undefined)
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    const index = merged.findIndex((other) => isFields(other) && same(other[key], item[key]));
    if (item['$patch'] === 'delete') merged.splice(index, index < 0 ? 0 : 1);
    else if (index < 0) merged.push(strategicMerge({}, item, schemaOfItems(schema)));
    else merged[index] = strategicMerge(merged[index], item, schemaOfItems(schema));
  }
  return merged;
}

interface Order {
  /** The items of the patch, in its order. */
  readonly order: unknown;
  /** The list before the patch. */
  readonly server: readonly unknown[];
  readonly key: string | undefined;
}

/**
 * Merges two orders: that of the patch for its items, and that of the old list for all others. If neither decides, the
 * patch's items come first.
 */
function ordered(list: readonly unknown[], { order, server, key }: Order): readonly unknown[] {
  if (!Array.isArray(order)) return list;
  const nameOf = (item: unknown): string => JSON.stringify(key === undefined || !isFields(item) ? item : item[key]);
  const ranks = (items: readonly unknown[]): ReadonlyMap<string, number> =>
    new Map(items.map((item, index) => [nameOf(item), index]));
  const [wanted, was] = [ranks(order), ranks(server)];
  const sorted = (items: readonly unknown[], by: ReadonlyMap<string, number>): unknown[] =>
    [...items].sort((a, b) => (by.get(nameOf(a)) ?? 0) - (by.get(nameOf(b)) ?? 0));
  const named = sorted(
    list.filter((item) => wanted.has(nameOf(item))),
    wanted,
  );
  const others = sorted(
    list.filter((item) => !wanted.has(nameOf(item))),
    was,
  );
  const isBefore = (other: unknown, one: unknown): boolean =>
    (was.get(nameOf(other)) ?? Infinity) < (was.get(nameOf(one)) ?? -Infinity);
  const result: unknown[] = [];
  for (const one of named) {
    while (others.length > 0 && isBefore(others[0], one)) result.push(others.shift());
    result.push(one);
  }
  return [...result, ...others];
}

/** A patch may reorder a list without changing its items. */
function orderOnly(merged: Fields, patch: Fields, shape: Schema): void {
  for (const [directive, order] of Object.entries(patch)) {
    const field = directive.slice(orders.length);
    const list = merged[field];
    if (!directive.startsWith(orders) || patch[field] !== undefined || !Array.isArray(list)) continue;
    merged[field] = ordered(list, {
      order,
      server: list,
      key: schemaOfField(shape, field)?.['x-kubernetes-patch-merge-key'],
    });
  }
}

function removePrimitives(merged: Fields, patch: Fields): void {
  for (const [directive, values] of Object.entries(patch)) {
    const list = merged[directive.slice(deletes.length)];
    if (!directive.startsWith(deletes) || !Array.isArray(list) || !Array.isArray(values)) continue;
    merged[directive.slice(deletes.length)] = list.filter((item) => !values.some((value) => same(item, value)));
  }
}
