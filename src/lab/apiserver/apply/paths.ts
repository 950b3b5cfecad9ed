import { type Fields, isFields } from '../json.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from '../schema/schema.ts';

/**
 * The fields of an object one by one: the path of each, with its value. A path is a list of steps as managed fields are
 * written (`f:name`, `k:{…}`, `v:…`), joined by a sign that no step has. A last step `.` is the thing itself, where its
 * being there says something even without its parts.
 */
export type Leaves = Map<string, unknown>;

const joint = '\u0000';
const itself = '.';

/** What the server decides, and so nobody manages. */
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
      ].map((field) => `metadata${joint}f:${field}`),
    )
    .map((path) => `f:${path}`),
);

export function leavesOf(object: unknown, schema: Schema): Leaves {
  const leaves: Leaves = new Map();
  collect(leaves, object, { schema: resolved(schema), path: '' });
  for (const path of unmanaged) leaves.delete(path);
  return leaves;
}

interface Spot {
  readonly schema: Schema;
  readonly path: string;
}

const below = (path: string, step: string): string => (path === '' ? step : `${path}${joint}${step}`);

function collect(leaves: Leaves, value: unknown, { schema, path }: Spot): void {
  if (isFields(value) && schema['x-kubernetes-map-type'] !== 'atomic' && Object.keys(value).length > 0)
    return collectFields(leaves, value, { schema, path });
  const kind = schema['x-kubernetes-list-type'];
  if (Array.isArray(value) && (kind === 'map' || kind === 'set')) return collectItems(leaves, value, { schema, path });
  if (path !== '') leaves.set(path, value);
}

function collectFields(leaves: Leaves, value: Fields, { schema, path }: Spot): void {
  const isMap = schema.properties === undefined;
  if (isMap && path !== '') leaves.set(below(path, itself), true);
  for (const [field, content] of Object.entries(value))
    collect(leaves, content, { schema: schemaOfField(schema, field) ?? {}, path: below(path, `f:${field}`) });
}

function collectItems(leaves: Leaves, list: readonly unknown[], { schema, path }: Spot): void {
  for (const item of list) {
    const step = stepOf(item, schema);
    const where = below(path, step);
    if (step.startsWith('v:') || !isFields(item)) leaves.set(where, item);
    else {
      leaves.set(below(where, itself), true);
      collectFields(leaves, item, {
        schema: { ...schemaOfItems(schema), properties: schemaOfItems(schema).properties ?? {} },
        path: where,
      });
    }
  }
}

/** The step that leads to an item of a list that is a set, or a map by some keys. */
export function stepOf(item: unknown, schema: Schema): string {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (schema['x-kubernetes-list-type'] === 'set' || !isFields(item)) return `v:${JSON.stringify(item)}`;
  const named = [...keys].sort().map((key) => [key, item[key] ?? schemaOfItems(schema).properties?.[key]?.default]);
  return `k:${JSON.stringify(Object.fromEntries(named))}`;
}

/** The tree in which managed fields are written. */
export function treeOf(paths: Iterable<string>): Fields {
  const tree: Fields = {};
  for (const path of [...paths].sort()) {
    let inner = tree;
    for (const step of path.split(joint)) {
      inner[step] ??= {};
      inner = inner[step] as Fields;
    }
  }
  return tree;
}

/** The reverse of `treeOf`. */
export function pathsIn(tree: unknown, path = ''): readonly string[] {
  if (!isFields(tree)) return [];
  const steps = Object.entries(tree);
  if (steps.length === 0) return path === '' ? [] : [path];
  return steps.flatMap(([step, inner]) => pathsIn(inner, below(path, step)));
}

export const stepsOf = (path: string): readonly string[] => path.split(joint);

/** A path as one would write it. */
export const shownPath = (path: string): string =>
  stepsOf(path)
    .filter((step) => step !== itself)
    .map((step) => (step.startsWith('f:') ? `.${step.slice(2)}` : `[${shownKeys(step)}]`))
    .join('');

function shownKeys(step: string): string {
  if (step.startsWith('v:')) return `=${step.slice(2)}`;
  const keys = JSON.parse(step.slice(2)) as Fields;
  return Object.entries(keys)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(',');
}

/** Whether a path is only a sign that something is there. */
export const isMark = (path: string): boolean => stepsOf(path).at(-1) === itself;
export const isListItem = (path: string): boolean => isMark(path) && stepsOf(path).at(-2)?.startsWith('k:') === true;
