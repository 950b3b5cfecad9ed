import { type Fields, isFields, same } from '../json.ts';
import type { FieldError } from '../status-error.ts';
import { combinedErrors } from './combined.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

interface Position {
  readonly path: string;
  /** The old value, if the object is updated. Unchanged values are not validated again (ratcheting). */
  readonly old?: unknown;
}

/** The errors of a custom resource under its schema. */
export function schemaErrors(
  value: unknown,
  schema: Schema,
  { path, old }: Position = { path: '' },
): readonly FieldError[] {
  const shape = resolved(schema);
  if (old !== undefined && same(value, old)) return [];
  if (value === null && shape.nullable === true) return [];
  const combined = combinedErrors(shape, path, (further) => schemaErrors(value, further, { path }));
  if (!hasType(value, shape)) return [wrongType(value, shape, path), ...combined];
  return [...scalarErrors(value, shape, path), ...innerErrors(value, shape, { path, old }), ...combined];
}

function innerErrors(value: unknown, shape: Schema, position: Position): readonly FieldError[] {
  if (Array.isArray(value)) return listErrors(value, shape, position.path);
  return isFields(value) ? fieldErrors(value, shape, position) : [];
}

const join = (path: string, field: string): string => (path === '' ? field : `${path}.${field}`);

function fieldErrors(value: Fields, shape: Schema, { path, old }: Position): readonly FieldError[] {
  const missing = (shape.required ?? []).filter((field) => !(field in value));
  const inner = Object.entries(value).flatMap(([field, content]) => {
    const schema = path === '' && field === 'metadata' ? undefined : schemaOfField(shape, field);
    const before = isFields(old) ? old[field] : undefined;
    return schema === undefined ? [] : schemaErrors(content, schema, { path: join(path, field), old: before });
  });
  return [
    ...missing.map((field): FieldError => ({ type: 'Required', path: join(path, field), detail: '' })),
    ...countErrors(Object.keys(value).length, path, { min: shape.minProperties, max: shape.maxProperties }),
    ...inner,
  ];
}

function listErrors(value: readonly unknown[], shape: Schema, path: string): readonly FieldError[] {
  const inner = value.flatMap((item, index) => schemaErrors(item, schemaOfItems(shape), { path: `${path}[${index}]` }));
  return [
    ...countErrors(value.length, path, { min: shape.minItems, max: shape.maxItems }),
    ...inner,
    ...duplicates(value, shape, path),
  ];
}

function countErrors(
  count: number,
  path: string,
  { min = 0, max = Number.POSITIVE_INFINITY }: { min?: number | undefined; max?: number | undefined },
): readonly FieldError[] {
  if (count < min)
    return [{ type: 'Invalid', path, value: count, detail: `${path} in body should have at least ${min} items` }];
  if (count <= max) return [];
  return [{ type: 'TooMany', path, detail: `${count}: must have at most ${max} item${max === 1 ? '' : 's'}` }];
}

/** Duplicate items of lists of type set or map. */
function duplicates(value: readonly unknown[], shape: Schema, path: string): readonly FieldError[] {
  const keys = shape['x-kubernetes-list-map-keys'] ?? [];
  const kind = shape['x-kubernetes-list-type'];
  if (kind !== 'set' && kind !== 'map') return [];
  const keyOf = (item: unknown): unknown =>
    kind === 'set' || !isFields(item) ? item : Object.fromEntries(keys.map((key) => [key, item[key]]));
  const seen = new Set<string>();
  return value.flatMap((item, index): FieldError[] => {
    const key = keyOf(item);
    const isSeen = seen.has(JSON.stringify(key));
    seen.add(JSON.stringify(key));
    return isSeen ? [{ type: 'Duplicate', path: `${path}[${index}]`, value: key, detail: '' }] : [];
  });
}

function hasType(value: unknown, shape: Schema): boolean {
  if (shape['x-kubernetes-int-or-string'] === true) return typeof value === 'string' || Number.isInteger(value);
  const found = typeName(value);
  return shape.type === undefined || shape.type === found || (shape.type === 'number' && found === 'integer');
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function wrongType(value: unknown, shape: Schema, path: string): FieldError {
  const wanted = shape['x-kubernetes-int-or-string'] === true ? 'integer,string' : (shape.type ?? '');
  const found = typeName(value);
  return { type: 'TypeInvalid', path, value: found, detail: `${path} in body must be of type ${wanted}: "${found}"` };
}

function scalarErrors(value: unknown, shape: Schema, path: string): readonly FieldError[] {
  if (shape.enum !== undefined && !shape.enum.some((one) => same(one, value)))
    return [
      {
        type: 'NotSupported',
        path,
        value,
        detail: `supported values: ${shape.enum.map((one) => JSON.stringify(one)).join(', ')}`,
      },
    ];
  if (typeof value === 'number') return numberErrors(value, shape, path);
  return typeof value === 'string' ? textErrors(value, shape, path) : [];
}

function numberErrors(value: number, shape: Schema, path: string): readonly FieldError[] {
  const { minimum, maximum } = { minimum: -Infinity, maximum: Infinity, ...shape };
  const { exclusiveMinimum, exclusiveMaximum, multipleOf } = shape;
  const wrong = (detail: string): readonly FieldError[] => [
    { type: 'Invalid', path, value, detail: `${path} in body should be ${detail}` },
  ];
  const isBelow = exclusiveMinimum === true ? value <= minimum : value < minimum;
  const isAbove = exclusiveMaximum === true ? value >= maximum : value > maximum;
  if (isBelow) return wrong(`greater than ${orEqual(exclusiveMinimum)}${minimum}`);
  if (isAbove) return wrong(`less than ${orEqual(exclusiveMaximum)}${maximum}`);
  return multipleOf !== undefined && value % multipleOf !== 0 ? wrong(`a multiple of ${multipleOf}`) : [];
}

const orEqual = (isExclusive: boolean | undefined): string => (isExclusive === true ? '' : 'or equal to ');

function textErrors(value: string, shape: Schema, path: string): readonly FieldError[] {
  const { minLength, maxLength } = { minLength: 0, maxLength: Infinity, ...shape };
  const { pattern, format } = shape;
  const length = Array.from(value).length;
  if (length > maxLength) return [{ type: 'TooLong', path, detail: `may not be more than ${maxLength} bytes` }];
  const wrong = (detail: string): readonly FieldError[] => [
    { type: 'Invalid', path, value, detail: `${path} in body ${detail}` },
  ];
  if (length < minLength) return wrong(`should be at least ${minLength} chars long`);
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) return wrong(`should match '${pattern}'`);
  if (format === 'date-time' && Number.isNaN(Date.parse(value)))
    return [
      {
        type: 'TypeInvalid',
        path,
        value,
        detail: `${path} in body must be of type date-time: ${JSON.stringify(value)}`,
      },
    ];
  return [];
}
