import { objectWith } from './kinds.ts';
import type { Example, Mutation } from './mutations.ts';
import { pathText, type Step } from './schema-paths.ts';

/** True if a message names a field that an example changes, or the object that contains it. */
export function isNamedIn(message: string, { kind, spec, mutations }: Example): boolean {
  const said = wordsOf(message);
  const valid = objectWith(kind, spec);
  return mutations.some(({ at }) => {
    const names = changedFields(at, valid).filter(isName);
    // Without a name the whole spec was changed.
    const isNamed = names.length === 0 || names.some((name) => said.includes(wordsOf(name).replace(/name$/, '')));
    return isNamed || isTooLarge(message, at);
  });
}

/** A limit of size is that of an object, with all that it contains: a field deep inside makes it too large. */
const isTooLarge = (message: string, at: Mutation['at']): boolean =>
  at.some((_, index) => {
    const path = pathText(at.slice(0, index + 1));
    return (
      index > 1 && [`${path}: must not have more than`, `${path}: is too large`].some((text) => message.includes(text))
    );
  });

/** The last two fields of a path, and all fields that the valid object lacks: they are made with the changed one. */
function changedFields(at: Mutation['at'], valid: unknown): readonly string[] {
  const [, ...below] = at;
  const depth = existingSteps(at, valid);
  const made = below.slice(Math.max(depth - 1, 0)).filter((step) => typeof step === 'string');
  return [...made, ...below.filter((step) => typeof step === 'string' && isName(step)).slice(-2)].map(String);
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
