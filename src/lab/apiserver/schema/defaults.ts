import { copy, isFields } from '../json.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

/** Sets what the schema gives a default for, wherever the objects around it are there. The value is changed. */
export function setDefaults(value: unknown, schema: Schema): void {
  const shape = resolved(schema);
  if (Array.isArray(value)) for (const item of value) setDefaults(item, schemaOfItems(shape));
  if (!isFields(value)) return;
  for (const [field, inner] of Object.entries(shape.properties ?? {})) {
    const content = resolved(inner).default;
    if (value[field] === undefined && content !== undefined) value[field] = copy(content);
  }
  for (const [field, content] of Object.entries(value)) setDefaults(content, schemaOfField(shape, field) ?? {});
}
