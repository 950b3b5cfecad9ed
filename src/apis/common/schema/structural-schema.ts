import { z } from 'zod';

/** A node of a structural schema, as CustomResourceDefinitions have it. */
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

/** Keywords that are copied unchanged: those shared with JSON Schema, and extensions of Kubernetes. */
const keywords = [
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

/** The limits of JavaScript's integers, which zod adds to every integer. They are dropped. */
const noBounds: ReadonlySet<unknown> = new Set([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

/** The structural schema of what users may write. */
export const structuralSchemaOf = (schema: z.ZodType): StructuralSchema =>
  structural(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }) as StructuralSchema, '');

function structural(node: StructuralSchema, path: string): StructuralSchema {
  assertStructural(node, path);
  const plain = Object.fromEntries(
    keywords
      .filter((keyword) => node[keyword] !== undefined && !noBounds.has(node[keyword]))
      .map((keyword) => [keyword, node[keyword]]),
  );
  return { ...plain, ...childrenOf(node, path) };
}

function childrenOf(node: StructuralSchema, path: string): StructuralSchema {
  const { properties, additionalProperties: others, items } = node;
  if (items !== undefined) return { items: structural(items, `${path}[]`) };
  const inner = properties && Object.keys(properties).length > 0 ? { properties: allStructural(properties, path) } : {};
  if (others === undefined || typeof others !== 'object') return inner;
  // zod writes "any other field" as an empty schema; Kubernetes has a keyword for it.
  if (Object.keys(others).length === 0) return { ...inner, 'x-kubernetes-preserve-unknown-fields': true };
  return { ...inner, additionalProperties: structural(others, `${path}[*]`) };
}

const allStructural = (
  properties: Readonly<Record<string, StructuralSchema>>,
  path: string,
): Readonly<Record<string, StructuralSchema>> =>
  Object.fromEntries(Object.entries(properties).map(([name, node]) => [name, structural(node, `${path}.${name}`)]));

/** The API server refuses alternatives and references. Failing here names the path. */
function assertStructural(node: StructuralSchema, path: string): void {
  if (node['x-kubernetes-int-or-string'] === true) return;
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'not', '$ref', 'pattern'])
    if (node[keyword] !== undefined) throw new Error(`${path || 'the schema'}: "${keyword}" is not allowed in a CRD`);
  if (node.type === undefined) throw new Error(`${path || 'the schema'}: has no type`);
}
