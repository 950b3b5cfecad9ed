import type { z } from 'zod';
import { type Oversize, oversizeOf } from '../../../std/oversized.ts';
import type { Parsed, Problem } from './parsed.ts';

/** Makes a reader of raw objects of a kind. The reader never throws. */
export const readerOf =
  <Schema extends z.ZodType, Value>(schema: Schema, translate: (resource: z.output<Schema>, raw: unknown) => Value) =>
  (raw: unknown): Parsed<Value> => {
    const parsed = parseWith(schema, raw);
    return parsed.ok ? { ok: true, value: translate(parsed.value, raw) } : parsed;
  };

/** Parses a raw object with a schema. Never throws. */
export function parseWith<Schema extends z.ZodType>(schema: Schema, raw: unknown): Parsed<z.output<Schema>> {
  const oversize = oversizeOf(raw);
  if (oversize !== undefined) return { ok: false, problems: [tooLarge(oversize)] };
  const parsed = schema.safeParse(withoutNulls(raw), { reportInput: true });
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, problems: problemsOf(parsed.error) };
}

const tooLarge = ({ field, mostKibibytes }: Oversize): Problem => ({
  path: field,
  message:
    `is too large or nested too deeply: the object has more than ${mostKibibytes} KiB, the limit of the operator; ` +
    'shorten this field',
});

/** No field of our APIs is nested deeper. Deeper nulls are kept. */
const deepest = 32;

/** Removes fields that are null, as the API server does. */
export function withoutNulls(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > deepest) return value;
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([key, inner]) => [key, withoutNulls(inner, depth + 1)]),
  );
}

/** Problems are published in the status, which has a limited size. */
const mostProblems = 50;
const longestPath = 253;

/** The problems of a zod error, with our messages. */
export function problemsOf({ issues }: z.ZodError): readonly Problem[] {
  const shown = issues.slice(0, mostProblems).map((issue) => ({ path: pathOf(issue.path), message: messageOf(issue) }));
  const left = issues.length - shown.length;
  return left === 0 ? shown : [...shown, { path: '(root)', message: `has ${left} more problems` }];
}

/** A field path as kubectl prints it: spec.pod.etcdEnv[0].name, spec.pod.labels[example.com/team]. */
function pathOf(keys: readonly PropertyKey[]): string {
  const path = keys
    .map((key) => (typeof key === 'string' && /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${String(key)}]`))
    .join('')
    .replace(/^\./, '');
  return path.length > longestPath ? `${path.slice(0, longestPath)}…` : path || '(root)';
}

const kinds: Readonly<Record<string, string>> = {
  object: 'an object',
  record: 'an object',
  array: 'a list',
  string: 'text',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a whole number',
};

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return typeWanted(issue);
  if (issue.code === 'too_big')
    return `must not ${have(issue.origin)} more than ${issue.maximum}${items(issue.origin)}`;
  if (issue.code === 'too_small') return `must ${have(issue.origin)} at least ${issue.minimum}${items(issue.origin)}`;
  // Messages of our schemas begin with "must"; zod's messages mention "input".
  if (issue.code === 'invalid_value' && !issue.message.startsWith('must '))
    return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
  return issue.message;
}

const typeWanted = ({ input, expected }: z.core.$ZodIssueInvalidType): string =>
  input === undefined ? 'must be set' : `must be ${kinds[expected] ?? expected}`;

const have = (origin: string): string => (origin === 'array' ? 'have' : 'be');
const items = (origin: string): string => (origin === 'array' ? ' items' : '');
