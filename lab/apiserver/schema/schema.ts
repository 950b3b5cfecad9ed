import schemas from '../gen/schemas.json' with { type: 'json' };

/** An OpenAPI schema with the extensions of Kubernetes. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly not?: Schema;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

/** A CEL validation rule. */
export interface CelRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export const builtinSchemas = schemas as unknown as Readonly<Record<string, Schema>>;

/** Resolves a reference to another schema. */
export function resolved(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...own } = schema;
  return { ...builtinSchemas[$ref], ...own };
}

const byKind = new Map(
  Object.entries(builtinSchemas).flatMap(([name, schema]) =>
    (schema['x-kubernetes-group-version-kind'] ?? []).map(
      ({ group, version, kind }) => [`${group}/${version}/${kind}`, { $ref: name }] as const,
    ),
  ),
);

/** The schema of a built-in kind. */
export const schemaOfKind = (group: string, version: string, kind: string): Schema =>
  byKind.get(`${group}/${version}/${kind}`) ?? {};

export const objectMeta: Schema = { $ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };

/** The schema of a field or map entry; `undefined` if there is none. */
export function schemaOfField(schema: Schema, field: string): Schema | undefined {
  // A user may name a field "constructor", which every object inherits.
  const known = Object.hasOwn(schema.properties ?? {}, field) ? schema.properties?.[field] : undefined;
  if (known !== undefined) return resolved(known);
  return typeof schema.additionalProperties === 'object' ? resolved(schema.additionalProperties) : undefined;
}

export const schemaOfItems = (schema: Schema): Schema => resolved(schema.items ?? {});

/** True if unknown fields are kept. */
export function keepsUnknown(schema: Schema): boolean {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true) return true;
  return schema.properties === undefined && schema.additionalProperties === undefined;
}
