import { isFields, type Fields } from '../json.ts';
import { keepsUnknown, objectMeta, resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

export interface Pruned {
  /** The paths of what was dropped. */
  readonly unknown: string[];
  /** Built-in kinds know no null: it is as if the field were not there. */
  readonly dropsNull: boolean;
}

/** The value without the fields that its schema does not know. */
export function prune(value: unknown, schema: Schema, pruned: Pruned, path = ''): unknown {
  const shape = resolved(schema);
  if (Array.isArray(value))
    return value.map((item, index) => prune(item, schemaOfItems(shape), pruned, `${path}[${index}]`));
  if (!isFields(value)) return value;
  return pruneFields(value, shape, { pruned, path });
}

function pruneFields(value: Fields, shape: Schema, { pruned, path }: { pruned: Pruned; path: string }): Fields {
  const kept: Fields = {};
  const embedded = shape['x-kubernetes-embedded-resource'] === true;
  for (const [field, content] of Object.entries(value)) {
    const where = path === '' ? field : `${path}.${field}`;
    const inner = embedded && field === 'metadata' ? objectMeta : schemaOfField(shape, field);
    const isKnown = inner !== undefined || keepsUnknown(shape) || (embedded && /^(apiVersion|kind)$/.test(field));
    if (!isKnown) pruned.unknown.push(where);
    else if (!isDroppedNull(content, inner, pruned))
      kept[field] = inner === undefined ? content : prune(content, inner, pruned, where);
  }
  return kept;
}

/** A null where none may be is as if the field were not there, so that its default is set. */
const isDroppedNull = (content: unknown, schema: Schema | undefined, { dropsNull }: Pruned): boolean =>
  content === null &&
  schema !== undefined &&
  (dropsNull || schema.nullable !== true);
