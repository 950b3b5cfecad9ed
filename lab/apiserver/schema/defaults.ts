import { copy, type Fields, fill, isFields } from '../json.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

/** Sets the defaults of a schema in place, in all objects that exist. */
export function setDefaults(value: unknown, schema: Schema): void {
  const shape = resolved(schema);
  if (Array.isArray(value)) for (const item of value) setDefaults(item, schemaOfItems(shape));
  if (!isFields(value)) return;
  fill(value, missingIn(value, shape));
  for (const [field, content] of Object.entries(value)) setDefaults(content, schemaOfField(shape, field) ?? {});
}

const missingIn = (value: Fields, { properties = {} }: Schema): Fields =>
  Object.fromEntries(
    Object.entries(properties)
      .map(([field, inner]) => [field, resolved(inner).default] as const)
      .filter(([field, content]) => value[field] === undefined && content !== undefined)
      .map(([field, content]) => [field, copy(content)]),
  );
