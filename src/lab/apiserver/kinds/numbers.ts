import { at } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { FieldError } from '../refusal.ts';

export const negativeWords = 'must be greater than or equal to 0';

/** Those of the given fields of the specification that say less than nothing. */
export const negativeErrors = (object: KubeObject, fields: readonly string[]): readonly FieldError[] =>
  fields.flatMap((field): FieldError[] => {
    const value = at(object, 'spec', field);
    const isNegative = typeof value === 'number' && value < 0;
    return isNegative ? [{ type: 'Invalid', path: `spec.${field}`, value, says: negativeWords }] : [];
  });
