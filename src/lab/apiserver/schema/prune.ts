import { type Fields, isFields } from '../json.ts';
import { keepsUnknown, objectMeta, resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

export interface Pruned {
  /** The paths of what was dropped. */
  readonly unknown: string[];
  /** Built-in kinds know no null: it is as if the field were not there. */
  readonly dropsNull: boolean;
}

/** The value without the fields that its schema does not know. */
export const prune = (value: unknown, schema: Schema, pruned: Pruned): unknown =>
  pruneAt(value, schema, { pruned, path: '' });

interface Spot {
  readonly pruned: Pruned;
  readonly path: string;
}

function pruneAt(value: unknown, schema: Schema, { pruned, path }: Spot): unknown {
  const shape = resolved(schema);
  if (Array.isArray(value))
    return value.map((item, index) => pruneAt(item, schemaOfItems(shape), { pruned, path: `${path}[${index}]` }));
  if (!isFields(value)) return value;
  const kept: Fields = {};
  for (const [field, content] of Object.entries(value)) {
    const spot = { pruned, path: path === '' ? field : `${path}.${field}` };
    const inner = schemaWithin(shape, field);
    if (inner === undefined) pruned.unknown.push(spot.path);
    else if (!isDroppedNull(content, inner, pruned)) kept[field] = pruneAt(content, inner, spot);
  }
  return kept;
}

const anything: Schema = { 'x-kubernetes-preserve-unknown-fields': true, nullable: true };
const ofObjects: Readonly<Record<string, Schema>> = { apiVersion: anything, kind: anything, metadata: objectMeta };

/** What a field must look like; nothing if there must be no such field. */
function schemaWithin(shape: Schema, field: string): Schema | undefined {
  const ofObject = shape['x-kubernetes-embedded-resource'] === true ? ofObjects[field] : undefined;
  return ofObject ?? schemaOfField(shape, field) ?? (keepsUnknown(shape) ? anything : undefined);
}

/** A null where none may be is as if the field were not there, so that its default is set. */
const isDroppedNull = (content: unknown, schema: Schema, { dropsNull }: Pruned): boolean =>
  content === null && schema !== anything && (dropsNull || schema.nullable !== true);
