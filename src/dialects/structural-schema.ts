import { z } from 'zod';

/** A node of a schema as a CustomResourceDefinition may hold it. */
export interface StructuralSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly [other: string]: unknown;
}

/** Words that structural schemas share with JSON Schema, or that Kubernetes adds: all that is taken over as it is. */
const kept = [
  'description',
  'type',
  'default',
  'enum',
  'required',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxLength',
  'maxProperties',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
] as const;

/** Where JavaScript's whole numbers end: a bound that zod adds and that says nothing about the field. */
const noBounds: ReadonlySet<unknown> = new Set([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

/** What users may write, as a schema for the API server. */
export const structuralSchemaOf = (schema: z.ZodType): StructuralSchema =>
  structural(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }) as StructuralSchema, '');

function structural(node: StructuralSchema, path: string): StructuralSchema {
  assertStructural(node, path);
  const plain = Object.fromEntries(
    kept.filter((word) => node[word] !== undefined && !noBounds.has(node[word])).map((word) => [word, node[word]]),
  );
  return { ...plain, ...childrenOf(node, path) };
}

function childrenOf(node: StructuralSchema, path: string): StructuralSchema {
  const { properties, additionalProperties: others, items } = node;
  if (items !== undefined) return { items: structural(items, `${path}[]`) };
  const inner = properties && Object.keys(properties).length > 0 ? { properties: allStructural(properties, path) } : {};
  if (others === undefined || typeof others !== 'object') return inner;
  // To zod "any other field" is a schema without demands; to Kubernetes it is a word of its own.
  if (Object.keys(others).length === 0) return { ...inner, 'x-kubernetes-preserve-unknown-fields': true };
  return { ...inner, additionalProperties: structural(others, `${path}[*]`) };
}

const allStructural = (
  properties: Readonly<Record<string, StructuralSchema>>,
  path: string,
): Readonly<Record<string, StructuralSchema>> =>
  Object.fromEntries(Object.entries(properties).map(([name, node]) => [name, structural(node, `${path}.${name}`)]));

/** The API server refuses alternatives and references: better to hear that here, with a path. */
function assertStructural(node: StructuralSchema, path: string): void {
  if (node['x-kubernetes-int-or-string'] === true) return;
  for (const word of ['anyOf', 'oneOf', 'allOf', 'not', '$ref', 'pattern'])
    if (node[word] !== undefined) throw new Error(`${path || 'the schema'}: "${word}" has no place in a CRD`);
  if (node.type === undefined) throw new Error(`${path || 'the schema'}: has no type`);
}
