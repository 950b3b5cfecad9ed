import { isFields, same } from '../json.ts';
import type { FieldError } from '../refusal.ts';
import { celValue, evaluate, messageOf, optionally, type Scope } from './cel.ts';
import { type Rule, resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

interface Spot {
  readonly path: string;
  readonly old?: unknown;
}

/** Which of the rules in a schema a value breaks. */
export function brokenRules(value: unknown, schema: Schema, { path, old }: Spot): readonly FieldError[] {
  const shape = resolved(schema);
  if (value === undefined || value === null) return [];
  const own = (shape['x-kubernetes-validations'] ?? []).flatMap((rule) => broken(rule, { value, shape, path, old }));
  return [...own, ...insideRules(value, shape, { path, old })];
}

function insideRules(value: unknown, shape: Schema, { path, old }: Spot): readonly FieldError[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => {
      const before = earlierItem(item, shape, old);
      return brokenRules(item, schemaOfItems(shape), { path: `${path}[${index}]`, old: before });
    });
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([field, content]) => {
    const inner = schemaOfField(shape, field);
    const before = isFields(old) ? old[field] : undefined;
    return inner === undefined ? [] : brokenRules(content, inner, { path: below(path, field, shape), old: before });
  });
}

/** Entries of a map are named like items of a list. */
function below(path: string, field: string, { properties }: Schema): string {
  if (properties?.[field] === undefined) return `${path}[${field}]`;
  return path === '' ? field : `${path}.${field}`;
}

/** Only lists whose items have names of their own can say which item was there before. */
function earlierItem(item: unknown, shape: Schema, old: unknown): unknown {
  const keys = shape['x-kubernetes-list-map-keys'];
  if (keys === undefined || !Array.isArray(old) || !isFields(item)) return undefined;
  return old.find((other) => isFields(other) && keys.every((key) => same(other[key], item[key])));
}

interface Checked {
  readonly value: unknown;
  readonly shape: Schema;
  readonly path: string;
  readonly old: unknown;
}

function broken(rule: Rule, checked: Checked): readonly FieldError[] {
  if (!applies(rule, checked)) return [];
  const { value, shape } = checked;
  const scope = scopeOf(rule, checked);
  const path = `${checked.path}${rule.fieldPath ?? ''}`;
  try {
    if (evaluate(rule.rule, scope) === true) return [];
    const type = errorTypes[rule.reason ?? ''] ?? 'Invalid';
    return [{ type, path, ...shownValue(value), says: wordsOf(rule, scope) }];
  } catch (error) {
    const says = `${messageOf(error)} evaluating rule: ${rule.message ?? rule.rule}`;
    return [{ type: 'Invalid', path, value: shape.type, says }];
  }
}

function scopeOf({ optionalOldSelf }: Rule, { value, shape, old }: Checked): Scope {
  const before = old === undefined ? undefined : celValue(old, shape);
  return { self: celValue(value, shape), oldSelf: optionalOldSelf === true ? optionally(before) : before };
}

/** A rule on a change needs something before it; any other is not asked about what stays as it was. */
function applies({ rule, optionalOldSelf }: Rule, { value, old }: Checked): boolean {
  if (/\boldSelf\b/.test(rule)) return old !== undefined || optionalOldSelf === true;
  return old === undefined || !same(value, old);
}

const errorTypes: Readonly<Record<string, FieldError['type']>> = {
  FieldValueRequired: 'Required',
  FieldValueForbidden: 'Forbidden',
  FieldValueDuplicate: 'Duplicate',
};

/** Objects and lists are too long to be shown. */
const shownValue = (value: unknown): { value?: unknown } =>
  typeof value === 'object' && value !== null ? {} : { value };

function wordsOf({ rule, message, messageExpression }: Rule, scope: Scope): string {
  if (messageExpression !== undefined)
    try {
      return String(evaluate(messageExpression, scope));
    } catch {
      // Kubernetes too falls back on the plain message when its expression fails.
    }
  return message ?? `failed rule: ${rule}`;
}

/** Whether there is any rule in a schema. */
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
