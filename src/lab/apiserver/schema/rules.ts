import { isFields, same } from '../json.ts';
import type { FieldError } from '../refusal.ts';
import { celValue, evaluate, messageOf, optionally } from './cel.ts';
import { resolved, type Rule, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

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
    const where = path === '' ? field : `${path}.${field}`;
    return inner === undefined ? [] : brokenRules(content, inner, { path: where, old: before });
  });
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

function broken(rule: Rule, { value, shape, path, old }: Checked): readonly FieldError[] {
  const speaksOfOld = /\boldSelf\b/.test(rule.rule);
  if (speaksOfOld && old === undefined && rule.optionalOldSelf !== true) return [];
  if (!speaksOfOld && old !== undefined && same(value, old)) return [];
  const before = old === undefined ? undefined : celValue(old, shape);
  const scope = {
    self: celValue(value, shape),
    oldSelf: rule.optionalOldSelf === true ? optionally(before) : before,
  };
  const where = rule.fieldPath === undefined ? path : `${path}${rule.fieldPath}`;
  try {
    if (evaluate(rule.rule, scope) === true) return [];
    return [{ type: errorTypes[rule.reason ?? ''] ?? 'Invalid', path: where, ...shownValue(value), says: wordsOf(rule, scope) }];
  } catch (error) {
    const says = `${messageOf(error)} evaluating rule: ${rule.message ?? rule.rule}`;
    return [{ type: 'Invalid', path: where, value: shape.type, says }];
  }
}

const errorTypes: Readonly<Record<string, FieldError['type']>> = {
  FieldValueRequired: 'Required',
  FieldValueForbidden: 'Forbidden',
  FieldValueDuplicate: 'Duplicate',
};

/** Objects and lists are too long to be shown. */
const shownValue = (value: unknown): { value?: unknown } =>
  typeof value === 'object' && value !== null ? {} : { value };

function wordsOf({ rule, message, messageExpression }: Rule, scope: Parameters<typeof evaluate>[1]): string {
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
  const inner = [...Object.values(shape.properties ?? {}), ...(shape.items ? [shape.items] : []), ...(typeof shape.additionalProperties === 'object' ? [shape.additionalProperties] : [])];
  return shape['x-kubernetes-validations'] !== undefined || inner.filter((one) => one.$ref === undefined).some(hasRules);
}
