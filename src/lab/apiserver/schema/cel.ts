import { Environment, Optional } from '@marcbachmann/cel-js';
import { isFields } from '../json.ts';
import { parseQuantity, type Quantity } from '../quantity.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

/** What Kubernetes adds to the language: amounts, as far as they are compared. */
class CelQuantity {
  readonly nanos: bigint;

  constructor({ nanos }: Quantity) {
    this.nanos = nanos;
  }
}

const quantityOf = (text: string): CelQuantity => {
  const parsed = parseQuantity(text);
  if (parsed === undefined) throw new Error(`${JSON.stringify(text)} is not a quantity`);
  return new CelQuantity(parsed);
};

function compared(a: CelQuantity, b: CelQuantity): bigint {
  if (a.nanos === b.nanos) return 0n;
  return a.nanos < b.nanos ? -1n : 1n;
}

const environment = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true })
  .registerType('Quantity', CelQuantity)
  .registerFunction('list.sum(): int', (numbers: readonly bigint[]) => numbers.reduce((sum, each) => sum + each, 0n))
  .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined)
  .registerFunction('quantity(string): Quantity', quantityOf)
  .registerFunction('Quantity.compareTo(Quantity): int', compared)
  .registerFunction('Quantity.isGreaterThan(Quantity): bool', (a: CelQuantity, b: CelQuantity) => a.nanos > b.nanos)
  .registerFunction('Quantity.isLessThan(Quantity): bool', (a: CelQuantity, b: CelQuantity) => a.nanos < b.nanos);

export interface Scope {
  readonly self: unknown;
  /** What was there before, or an optional that says whether there was anything. */
  readonly oldSelf?: unknown;
}

type Compiled = (scope: Scope) => unknown;
const compiled = new Map<string, Compiled>();

/** Evaluates an expression; one that cannot be read throws, and so does one that goes wrong. */
export function evaluate(expression: string, scope: Scope): unknown {
  const known = compiled.get(expression) ?? (environment.parse(expression) as Compiled);
  compiled.set(expression, known);
  return known(scope);
}

/** Why an expression cannot be used, or nothing. */
export function unreadable(expression: string): string | undefined {
  try {
    environment.parse(expression);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);

export const optionally = (value: unknown): unknown => (value === undefined ? Optional.none() : Optional.of(value));

/** A JSON value as the language sees it: whole numbers are integers where the schema says so, and unknown fields are not there. */
export function celValue(value: unknown, schema: Schema): unknown {
  const shape = resolved(schema);
  if (typeof value === 'number') return shape.type === 'number' || !Number.isInteger(value) ? value : BigInt(value);
  if (Array.isArray(value)) return value.map((item) => celValue(item, schemaOfItems(shape)));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, content]) => [field, celValue(content, schemaOfField(shape, field) ?? {})]),
  );
}
