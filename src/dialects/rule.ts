import { z } from 'zod';

/**
 * One demand on a value, told twice: to the API server in CEL, and to our own reader, which also meets objects that were
 * stored before there was a schema.
 */
export interface Rule<T> {
  readonly cel: string;
  readonly says: string;
  readonly holds: (value: T) => boolean;
}

/** The key under which a schema carries its rules for the API server. */
export const validationsKey = 'x-kubernetes-validations';

interface Validation {
  readonly rule: string;
  readonly message: string;
}

/** A schema whose values must also keep these rules. */
export function ruled<S extends z.ZodType>(schema: S, ...rules: readonly Rule<z.output<S>>[]): S {
  const checked = rules.reduce<S>(
    (before, { holds, says }) => before.refine(holds, { error: says, abort: true }),
    schema,
  );
  const already = (schema.meta()?.[validationsKey] ?? []) as readonly Validation[];
  return checked.meta({ [validationsKey]: [...already, ...rules.map(validationOf)] });
}

/**
 * A schema whose values may change only as these rules say, of `self` and `oldSelf`. One object shows no change, so the API
 * server alone can hold anybody to them.
 */
export function changing<S extends z.ZodType>(schema: S, ...rules: readonly Omit<Rule<never>, 'holds'>[]): S {
  const already = (schema.meta()?.[validationsKey] ?? []) as readonly Validation[];
  return schema.meta({ ...schema.meta(), [validationsKey]: [...already, ...rules.map(validationOf)] });
}

export const validationOf = ({ cel, says }: Pick<Rule<never>, 'cel' | 'says'>): Validation => ({
  rule: cel,
  message: says,
});

/** The rule that a text has a certain form. The pattern must mean the same to JavaScript and to RE2. */
export const looksLike = (pattern: RegExp, says: string): Rule<string> => ({
  cel: `self.matches(r'${pattern.source.replaceAll('\\/', '/')}')`,
  says,
  holds: (value) => pattern.test(value),
});

/** Text of bounded length. Bounds keep the API server's cost estimate of the rules low, and patterns off huge texts. */
export const text = (longest: number): z.ZodString =>
  z
    .string()
    .refine((value) => hasAtMost(value, longest), {
      error: `must not be longer than ${longest} characters`,
      abort: true,
    })
    .meta({ maxLength: longest });

/** Counts as the API server does: characters, where JavaScript's length counts halves of some. */
const hasAtMost = (value: string, longest: number): boolean =>
  value.length <= longest || (value.length <= 2 * longest && Array.from(value).length <= longest);

/** A map from names to values, of bounded size. */
export const table = <V extends z.ZodType>(value: V, most: number): z.ZodRecord<z.ZodString, V> =>
  z
    .record(z.string(), value)
    .refine((entries) => Object.keys(entries).length <= most, { error: `must not have more than ${most} entries` })
    .meta({ maxProperties: most });

/** A list of bounded length whose items are told apart by one of their fields, which no two may share. */
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
          context.addIssue({ code: 'custom', path: [index, key], message: `is there twice: ${String(name)}` });
        seen.add(name);
      }
    })
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] });
