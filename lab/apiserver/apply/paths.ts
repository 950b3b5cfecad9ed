import { type Fields, isFields } from '../json.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from '../schema/schema.ts';

/**
 * The values of an object's fields by path. A path is a list of steps as in managedFields (`f:name`, `k:{…}`, `v:…`),
 * joined by a NUL. A last step `.` marks the presence of an object or item, apart from its fields.
 */
export type Leaves = Map<string, unknown>;

const separator = '\u0000';
const presence = '.';

/** Fields that the server decides. No manager owns them. */
const unmanaged = new Set(
  ['apiVersion', 'kind']
    .concat(
      [
        'name',
        'namespace',
        'uid',
        'resourceVersion',
        'generation',
        'creationTimestamp',
        'managedFields',
        'selfLink',
        'deletionTimestamp',
        'deletionGracePeriodSeconds',
      ].map((field) => `metadata${separator}f:${field}`),
    )
    .map((path) => `f:${path}`),
);

export function leavesOf(object: unknown, schema: Schema): Leaves {
  const leaves: Leaves = new Map();
  collect(leaves, object, { schema: resolved(schema), path: '' });
  for (const path of unmanaged) leaves.delete(path);
  return leaves;
}

interface Position {
  readonly schema: Schema;
  readonly path: string;
}

const below = (path: string, step: string): string => (path === '' ? step : `${path}${separator}${step}`);

function collect(leaves: Leaves, value: unknown, { schema, path }: Position): void {
  if (isFields(value) && schema['x-kubernetes-map-type'] !== 'atomic' && Object.keys(value).length > 0)
    return collectFields(leaves, value, { schema, path });
  const kind = schema['x-kubernetes-list-type'];
  if (Array.isArray(value) && (kind === 'map' || kind === 'set')) return collectItems(leaves, value, { schema, path });
  if (path !== '') leaves.set(path, value);
}

function collectFields(leaves: Leaves, value: Fields, { schema, path }: Position): void {
  const isMap = schema.properties === undefined;
  if (isMap && path !== '') leaves.set(below(path, presence), true);
  for (const [field, content] of Object.entries(value))
    collect(leaves, content, { schema: schemaOfField(schema, field) ?? {}, path: below(path, `f:${field}`) });
}

function collectItems(leaves: Leaves, list: readonly unknown[], { schema, path }: Position): void {
  for (const item of list) {
    const step = stepOf(item, schema);
    const where = below(path, step);
    if (step.startsWith('v:') || !isFields(item)) leaves.set(where, item);
    else {
      leaves.set(below(where, presence), true);
      collectFields(leaves, item, {
        schema: { ...schemaOfItems(schema), properties: schemaOfItems(schema).properties ?? {} },
        path: where,
      });
    }
  }
}

/** The step to an item of a list of type set or map. */
export function stepOf(item: unknown, schema: Schema): string {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (schema['x-kubernetes-list-type'] === 'set' || !isFields(item)) return `v:${JSON.stringify(item)}`;
  const named = [...keys].sort().map((key) => [key, item[key] ?? schemaOfItems(schema).properties?.[key]?.default]);
  return `k:${JSON.stringify(Object.fromEntries(named))}`;
}

/** Formats paths as the tree in fieldsV1. */
export function treeOf(paths: Iterable<string>): Fields {
  const tree: Fields = {};
  for (const path of [...paths].sort()) {
    let inner = tree;
    for (const step of path.split(separator)) {
      inner[step] ??= {};
      inner = inner[step] as Fields;
    }
  }
  return tree;
}

/** The paths of a fieldsV1 tree. */
export function pathsIn(tree: unknown, path = ''): readonly string[] {
  if (!isFields(tree)) return [];
  const steps = Object.entries(tree);
  if (steps.length === 0) return path === '' ? [] : [path];
  return steps.flatMap(([step, inner]) => pathsIn(inner, below(path, step)));
}

export const stepsOf = (path: string): readonly string[] => path.split(separator);

/** Formats a path for messages. */
export const formatPath = (path: string): string =>
  stepsOf(path)
    .filter((step) => step !== presence)
    .map((step) => (step.startsWith('f:') ? `.${step.slice(2)}` : `[${formatKeys(step)}]`))
    .join('');

function formatKeys(step: string): string {
  if (step.startsWith('v:')) return `=${step.slice(2)}`;
  const keys = JSON.parse(step.slice(2)) as Fields;
  return Object.entries(keys)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(',');
}

/** True if a path only marks the presence of an object or item. */
export const isPresenceMarker = (path: string): boolean => stepsOf(path).at(-1) === presence;
export const isListItem = (path: string): boolean =>
  isPresenceMarker(path) && stepsOf(path).at(-2)?.startsWith('k:') === true;
