import { formatQuantity, parseQuantity } from '../../../src/std/quantity.ts';
import { isFields } from '../json.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';

/** Writes all quantities of an object in canonical form, in place. */
export function canonicalQuantities(value: unknown, schema: Schema): void {
  const shape = resolved(schema);
  if (Array.isArray(value)) for (const item of value) canonicalQuantities(item, schemaOfItems(shape));
  if (!isFields(value)) return;
  for (const [field, content] of Object.entries(value)) {
    if (isQuantity(shape, field)) value[field] = canonical(content);
    else canonicalQuantities(content, schemaOfField(shape, field) ?? {});
  }
}

function isQuantity({ properties, additionalProperties }: Schema, field: string): boolean {
  const inner = properties?.[field] ?? additionalProperties;
  return typeof inner === 'object' && inner.$ref === quantity;
}

function canonical(content: unknown): unknown {
  const parsed = parseQuantity(String(content));
  return parsed === undefined ? content : formatQuantity(parsed);
}
