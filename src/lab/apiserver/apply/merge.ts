import { copy, type Fields, isFields } from '../json.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from '../schema/schema.ts';
import { stepOf, stepsOf } from './paths.ts';

/** What is applied, laid over what is there: field by field, and item by item in lists whose items have names. */
export function overlaid(live: unknown, applied: unknown, schema: Schema): unknown {
  const shape = resolved(schema);
  if (isFields(live) && isFields(applied) && shape['x-kubernetes-map-type'] !== 'atomic') {
    const merged: Fields = { ...live };
    for (const [field, content] of Object.entries(applied))
      merged[field] = overlaid(live[field], content, schemaOfField(shape, field) ?? {});
    return merged;
  }
  const kind = shape['x-kubernetes-list-type'];
  if (Array.isArray(live) && Array.isArray(applied) && (kind === 'map' || kind === 'set')) return overlaidList(live, applied, shape);
  return copy(applied);
}

function overlaidList(live: readonly unknown[], applied: readonly unknown[], shape: Schema): readonly unknown[] {
  const wanted = new Map(applied.map((item) => [stepOf(item, shape), item]));
  const kept = live.map((item) => {
    const step = stepOf(item, shape);
    const change = wanted.get(step);
    wanted.delete(step);
    return change === undefined ? item : overlaid(item, change, schemaOfItems(shape));
  });
  return [...kept, ...wanted.values()];
}

/** Takes away what is at the end of a path, in a copy. */
export function without(value: unknown, path: string, schema: Schema): unknown {
  return removed(value, stepsOf(path), resolved(schema));
}

function removed(value: unknown, [step = '', ...rest]: readonly string[], shape: Schema): unknown {
  if (Array.isArray(value)) return removedItem(value, [step, ...rest], shape);
  const field = step.slice(2);
  if (!isFields(value) || !step.startsWith('f:') || !(field in value)) return value;
  const { [field]: content, ...others } = value;
  if (rest.length === 0) return others;
  const inner = removed(content, rest, schemaOfField(shape, field) ?? {});
  const isEmpty = isFields(inner) && Object.keys(inner).length === 0;
  return isEmpty ? others : { ...value, [field]: inner };
}

function removedItem(list: readonly unknown[], [step = '', ...rest]: readonly string[], shape: Schema): unknown {
  const isItem = (item: unknown): boolean => stepOf(item, shape) === step;
  if (rest.length === 0 || rest[0] === '.') return list.filter((item) => !isItem(item));
  return list.map((item) => (isItem(item) ? removed(item, rest, schemaOfItems(shape)) : item));
}
