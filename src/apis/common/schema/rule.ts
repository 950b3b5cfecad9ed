import { z } from 'zod';

/**
 * A validation rule in two forms: CEL for the API server, and `holds` for our reader, which also reads objects that
 * were stored before the CRD had a schema.
 */
export interface ValidationRule<T> {
  readonly cel: string;
  readonly message: string;
  readonly holds: (value: T) => boolean;
}

/** The schema key of CEL rules. */
export const validationsKey = 'x-kubernetes-validations';

interface Validation {
  readonly rule: string;
  readonly message: string;
}

/** Adds rules to a schema. */
export function withRules<S extends z.ZodType>(schema: S, ...rules: readonly ValidationRule<z.output<S>>[]): S {
  const checked = rules.reduce<S>(
    (before, { holds, message }) => before.refine(holds, { error: message, abort: true }),
    schema,
  );
  const already = (schema.meta()?.[validationsKey] ?? []) as readonly Validation[];
  return checked.meta({ [validationsKey]: [...already, ...rules.map(validationOf)] });
}

/**
 * Adds transition rules to a schema: CEL rules that compare `self` with `oldSelf`. Only the API server can enforce
 * them, because the reader has no old value.
 */
export function withTransitionRules<S extends z.ZodType>(
  schema: S,
  ...rules: readonly Omit<ValidationRule<never>, 'holds'>[]
): S {
  const already = (schema.meta()?.[validationsKey] ?? []) as readonly Validation[];
  return schema.meta({ ...schema.meta(), [validationsKey]: [...already, ...rules.map(validationOf)] });
}

export const validationOf = ({ cel, message }: Pick<ValidationRule<never>, 'cel' | 'message'>): Validation => ({
  rule: cel,
  message: message,
});

/** The rule that a text matches a pattern. The pattern must mean the same in JavaScript and in RE2. */
export const looksLike = (pattern: RegExp, message: string): ValidationRule<string> => ({
  cel: `self.matches(r'${pattern.source.replaceAll('\\/', '/')}')`,
  message,
  holds: (value) => pattern.test(value),
});

/** Text of limited length. The limit keeps the API server's cost estimate of CEL rules low. */
export const text = (longest: number): z.ZodString =>
  z
    .string()
    .refine((value) => hasAtMost(value, longest), {
      error: `must not be longer than ${longest} characters`,
      abort: true,
    })
    .meta({ maxLength: longest });

/** Counts code points, as the API server does; JavaScript's `length` counts UTF-16 units. */
const hasAtMost = (value: string, longest: number): boolean =>
  value.length <= longest || (value.length <= 2 * longest && Array.from(value).length <= longest);

/** A map of limited size. */
export const table = <V extends z.ZodType>(value: V, most: number): z.ZodRecord<z.ZodString, V> =>
  z
    .record(z.string(), value)
    .refine((entries) => Object.keys(entries).length <= most, { error: `must not have more than ${most} entries` })
    .meta({ maxProperties: most });

/** A list of limited length with a unique key field: a Kubernetes list of type map. */
export const listBy = <K extends string, I extends z.ZodType<Readonly<Record<K, unknown>>>>(
  key: K,
  item: I,
  most: number,
): z.ZodArray<I> =>
  z
    .array(item)
    .max(most)
    .superRefine((items, context) => {
      const seen = new Set<unknown>();
      for (const [index, { [key]: name }] of items.entries()) {
        if (seen.has(name))
          context.addIssue({ code: 'custom', path: [index, key], message: `is a duplicate: ${String(name)}` });
        seen.add(name);
      }
    })
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] });
