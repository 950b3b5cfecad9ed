import { copy, type Fields, isFields } from '../json.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from '../schema/schema.ts';
import { stepOf, stepsOf } from './paths.ts';

/** Merges an applied configuration into a live object: field by field, and by key in lists of type map or set. */
export function mergeApplied(live: unknown, applied: unknown, schema: Schema): unknown {
  const shape = resolved(schema);
  if (isFields(live) && isFields(applied) && shape['x-kubernetes-map-type'] !== 'atomic')
    return mergeFields(live, applied, shape);
  if (Array.isArray(live) && Array.isArray(applied) && isMapOrSet(shape)) return mergeList(live, applied, shape);
  return copy(applied);
}

const isMapOrSet = (shape: Schema): boolean => /^(map|set)$/.test(shape['x-kubernetes-list-type'] ?? '');

const mergeFields = (live: Fields, applied: Fields, shape: Schema): Fields => ({
  ...live,
  ...Object.fromEntries(
    Object.entries(applied).map(([field, content]) => [
      field,
      mergeApplied(live[field], content, schemaOfField(shape, field) ?? {}),
    ]),
  ),
});

function mergeList(live: readonly unknown[], applied: readonly unknown[], shape: Schema): readonly unknown[] {
  const wanted = new Map(applied.map((item) => [stepOf(item, shape), item]));
  const merged = live.map((item) => {
    const step = stepOf(item, shape);
    const change = wanted.get(step);
    wanted.delete(step);
    return change === undefined ? item : mergeApplied(item, change, schemaOfItems(shape));
  });
  return [...merged, ...wanted.values()];
}

/** Removes the value at a path, in a copy. */
export function without(value: unknown, path: string, schema: Schema): unknown {
  return removed(value, stepsOf(path), resolved(schema));
}

function removed(value: unknown, steps: readonly string[], shape: Schema): unknown {
  if (Array.isArray(value)) return removedItem(value, steps, shape);
  const [step = '', ...rest] = steps;
  const field = step.slice(2);
  if (!isFields(value) || step === '.') return value;
  const { [field]: content, ...others } = value;
  if (rest.length === 0) return others;
  const inner = removed(content, rest, schemaOfField(shape, field) ?? {});
  return isEmpty(inner) ? others : { ...value, [field]: inner };
}

const isEmpty = (value: unknown): boolean => isFields(value) && Object.keys(value).length === 0;

function removedItem(list: readonly unknown[], [step = '', ...rest]: readonly string[], shape: Schema): unknown {
  const isItem = (item: unknown): boolean => stepOf(item, shape) === step;
  if (rest.length === 0 || rest[0] === '.') return list.filter((item) => !isItem(item));
  return list.map((item) => (isItem(item) ? removed(item, rest, schemaOfItems(shape)) : item));
}
