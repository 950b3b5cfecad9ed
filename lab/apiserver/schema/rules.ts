import { isFields, same } from '../json.ts';
import type { FieldError } from '../status-error.ts';
import { celValue, evaluate, messageOf, optionalOf, type Scope } from './cel.ts';
import { type CelRule, resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

interface Position {
  readonly path: string;
  readonly old?: unknown;
}

/** The errors of a value under the CEL rules of its schema. */
export function ruleErrors(value: unknown, schema: Schema, { path, old }: Position): readonly FieldError[] {
  const shape = resolved(schema);
  if (value === undefined || value === null) return [];
  const own = (shape['x-kubernetes-validations'] ?? []).flatMap((rule) =>
    errorsOfRule(rule, { value, shape, path, old }),
  );
  return [...own, ...innerRuleErrors(value, shape, { path, old })];
}

function innerRuleErrors(value: unknown, shape: Schema, { path, old }: Position): readonly FieldError[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => {
      const before = oldItem(item, shape, old);
      return ruleErrors(item, schemaOfItems(shape), { path: `${path}[${index}]`, old: before });
    });
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([field, content]) => {
    const inner = schemaOfField(shape, field);
    const before = isFields(old) ? old[field] : undefined;
    return inner === undefined ? [] : ruleErrors(content, inner, { path: below(path, field, shape), old: before });
  });
}

/** Map entries have paths like list items. */
function below(path: string, field: string, { properties }: Schema): string {
  if (properties?.[field] === undefined) return `${path}[${field}]`;
  return path === '' ? field : `${path}.${field}`;
}

/** The old value of a list item. Only lists of type map can find it. */
function oldItem(item: unknown, shape: Schema, old: unknown): unknown {
  const keys = shape['x-kubernetes-list-map-keys'];
  if (keys === undefined || !Array.isArray(old) || !isFields(item)) return undefined;
  return old.find((other) => isFields(other) && keys.every((key) => same(other[key], item[key])));
}

interface CheckedValue {
  readonly value: unknown;
  readonly shape: Schema;
  readonly path: string;
  readonly old: unknown;
}

function errorsOfRule(rule: CelRule, checked: CheckedValue): readonly FieldError[] {
  if (!applies(rule, checked)) return [];
  const { value, shape } = checked;
  const scope = scopeOf(rule, checked);
  const path = `${checked.path}${rule.fieldPath ?? ''}`;
  try {
    if (evaluate(rule.rule, scope) === true) return [];
    const type = errorTypes[rule.reason ?? ''] ?? 'Invalid';
    return [{ type, path, ...scalarOnly(value), detail: messageFor(rule, scope) }];
  } catch (error) {
    const detail = `${messageOf(error)} evaluating rule: ${rule.message ?? rule.rule}`;
    return [{ type: 'Invalid', path, value: shape.type, detail }];
  }
}

function scopeOf({ optionalOldSelf }: CelRule, { value, shape, old }: CheckedValue): Scope {
  const before = old === undefined ? undefined : celValue(old, shape);
  return { self: celValue(value, shape), oldSelf: optionalOldSelf === true ? optionalOf(before) : before };
}

/** A transition rule needs an old value. Any other rule is skipped if the value is unchanged. */
function applies({ rule, optionalOldSelf }: CelRule, { value, old }: CheckedValue): boolean {
  if (/\boldSelf\b/.test(rule)) return old !== undefined || optionalOldSelf === true;
  return old === undefined || !same(value, old);
}

const errorTypes: Readonly<Record<string, FieldError['type']>> = {
  FieldValueRequired: 'Required',
  FieldValueForbidden: 'Forbidden',
  FieldValueDuplicate: 'Duplicate',
};

/** Objects and lists are omitted from errors. */
const scalarOnly = (value: unknown): { value?: unknown } =>
  typeof value === 'object' && value !== null ? {} : { value };

function messageFor({ rule, message, messageExpression }: CelRule, scope: Scope): string {
  if (messageExpression !== undefined)
    try {
      return String(evaluate(messageExpression, scope));
    } catch {
      // Kubernetes falls back to the plain message too.
    }
  return message ?? `failed rule: ${rule}`;
}

/** True if a schema has CEL rules. */
export function hasRules(schema: Schema): boolean {
  const shape = resolved(schema);
  if (shape.$ref !== undefined) return false;
  const inner = [
    ...Object.values(shape.properties ?? {}),
    ...(shape.items ? [shape.items] : []),
    ...(typeof shape.additionalProperties === 'object' ? [shape.additionalProperties] : []),
  ];
  return (
    shape['x-kubernetes-validations'] !== undefined || inner.filter((one) => one.$ref === undefined).some(hasRules)
  );
}
