import { objectWith } from './kinds.ts';
import type { Example, Mutation } from './mutations.ts';
import type { Step } from './schema-paths.ts';

/** True if a message names a field that an example changes, or the object that contains it. */
export function isNamedIn(message: string, { kind, spec, mutations }: Example): boolean {
  const said = wordsOf(message);
  const valid = objectWith(kind, spec);
  return mutations.some(({ at }) => {
    const names = changedFields(at, valid).filter(isName);
    // Without a name the whole spec was changed.
    return names.length === 0 || names.some((name) => said.includes(wordsOf(name).replace(/name$/, '')));
  });
}

/**
 * The last two fields of a path, and all that are made with the changed one, with the object that they are made in. An
 * item of a list has the name of the list.
 */
function changedFields(at: Mutation['at'], valid: unknown): readonly string[] {
  const fields = at.slice(1).filter((step) => typeof step === 'string');
  const existing = at.slice(1, existingSteps(at, valid)).filter((step) => typeof step === 'string');
  return [...fields.slice(Math.max(existing.length - 1, 0)), ...fields.filter(isName).slice(-2)];
}

/** The number of steps of a path that exist in an object. */
function existingSteps([step, ...rest]: readonly Step[], value: unknown): number {
  if (step === undefined || typeof value !== 'object' || value === null) return 0;
  const inner: unknown = Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined;
  return inner === undefined ? 0 : 1 + existingSteps(rest, inner);
}

/** A key of a map may be any text; the map is named then. */
const isName = (field: string): boolean => /^[A-Za-z]\w+$/.test(field);

/** "service account" names serviceAccountName. */
const wordsOf = (text: string): string => text.toLowerCase().replaceAll(/[\s_-]/g, '');
