import { Environment, Optional } from '@marcbachmann/cel-js';
import { parseQuantity, type Quantity } from '../../../src/std/quantity.ts';
import { isFields } from '../json.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

/** The quantity type that Kubernetes adds to CEL, with its comparisons. */
class CelQuantity {
  readonly nanos: bigint;

  constructor({ nanos }: Quantity) {
    this.nanos = nanos;
  }
}

const celQuantity = (text: string): CelQuantity => {
  const parsed = parseQuantity(text);
  if (parsed === undefined) throw new Error(`${JSON.stringify(text)} is not a quantity`);
  return new CelQuantity(parsed);
};

function compare(a: CelQuantity, b: CelQuantity): bigint {
  if (a.nanos === b.nanos) return 0n;
  return a.nanos < b.nanos ? -1n : 1n;
}

const environment = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true })
  .registerType('Quantity', CelQuantity)
  .registerFunction('list.sum(): int', (numbers: readonly bigint[]) => numbers.reduce((sum, each) => sum + each, 0n))
  .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined)
  .registerFunction('quantity(string): Quantity', celQuantity)
  .registerFunction('Quantity.compareTo(Quantity): int', compare)
  .registerFunction('Quantity.isGreaterThan(Quantity): bool', (a: CelQuantity, b: CelQuantity) => a.nanos > b.nanos)
  .registerFunction('Quantity.isLessThan(Quantity): bool', (a: CelQuantity, b: CelQuantity) => a.nanos < b.nanos);

export interface Scope {
  readonly self: unknown;
  /** The old value, or an optional of it. */
  readonly oldSelf?: unknown;
}

type Compiled = (scope: Scope) => unknown;
const compiled = new Map<string, Compiled>();

/** Evaluates a CEL expression; throws if it does not compile or fails. */
export function evaluate(expression: string, scope: Scope): unknown {
  const program = compiled.get(expression) ?? (environment.parse(expression) as Compiled);
  compiled.set(expression, program);
  return program(scope);
}

/** The compile error of an expression, if any. */
export function compileError(expression: string): string | undefined {
  try {
    environment.parse(expression);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);

export const optionalOf = (value: unknown): unknown => (value === undefined ? Optional.none() : Optional.of(value));

/** A JSON value as CEL sees it: integers where the schema has them, without unknown fields. */
export function celValue(value: unknown, schema: Schema): unknown {
  const shape = resolved(schema);
  if (typeof value === 'number') return shape.type === 'number' || !Number.isInteger(value) ? value : BigInt(value);
  if (Array.isArray(value)) return value.map((item) => celValue(item, schemaOfItems(shape)));
  if (!isFields(value)) return value;
  const entries = Object.entries(value).map(
    ([field, content]) => [field, celValue(content, schemaOfField(shape, field) ?? {})] as const,
  );
  return ignoredKeys.some((key) => Object.hasOwn(value, key)) ? new Map(entries) : Object.fromEntries(entries);
}

/** Keys that the evaluator does not see in an object, or takes for its class. */
const ignoredKeys = ['__proto__', 'constructor', 'prototype'];
