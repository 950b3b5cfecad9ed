import { isFields } from '../json.ts';
import { keepsUnknown, objectMeta, resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

export interface Pruned {
  /** The paths of dropped fields. */
  readonly unknown: string[];
  /** True for built-in kinds: a null field counts as absent. */
  readonly dropsNull: boolean;
}

/** Drops the fields that the schema does not have. */
export const prune = (value: unknown, schema: Schema, pruned: Pruned): unknown =>
  pruneAt(value, schema, { pruned, path: '' });

interface Position {
  readonly pruned: Pruned;
  readonly path: string;
}

function pruneAt(value: unknown, schema: Schema, { pruned, path }: Position): unknown {
  const shape = resolved(schema);
  if (Array.isArray(value))
    return value.map((item, index) => pruneAt(item, schemaOfItems(shape), { pruned, path: `${path}[${index}]` }));
  if (!isFields(value)) return value;
  const kept: [string, unknown][] = [];
  for (const [field, content] of Object.entries(value)) {
    const position = { pruned, path: path === '' ? field : `${path}.${field}` };
    const inner = schemaOrUndefined(shape, field);
    if (inner === undefined) pruned.unknown.push(position.path);
    else if (!isDroppedNull(content, inner, pruned)) kept.push([field, pruneAt(content, inner, position)]);
  }
  return Object.fromEntries(kept); // an assignment to the key __proto__ would not make a field
}

const anything: Schema = { 'x-kubernetes-preserve-unknown-fields': true, nullable: true };
const ofObjects: Readonly<Record<string, Schema>> = { apiVersion: anything, kind: anything, metadata: objectMeta };

/** The schema of a field; `undefined` if the field is unknown. */
function schemaOrUndefined(shape: Schema, field: string): Schema | undefined {
  const ofObject = shape['x-kubernetes-embedded-resource'] === true ? ofObjects[field] : undefined;
  return ofObject ?? schemaOfField(shape, field) ?? (keepsUnknown(shape) ? anything : undefined);
}

/** A null that is not allowed counts as absent, so that the default applies. */
const isDroppedNull = (content: unknown, schema: Schema, { dropsNull }: Pruned): boolean =>
  content === null && schema !== anything && (dropsNull || schema.nullable !== true);
