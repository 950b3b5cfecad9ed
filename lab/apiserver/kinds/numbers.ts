import { at } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { FieldError } from '../status-error.ts';

export const notNegativeDetail = 'must be greater than or equal to 0';

/** Errors for negative values in the given fields of the spec. */
export const negativeErrors = (object: KubeObject, fields: readonly string[]): readonly FieldError[] =>
  fields.flatMap((field): FieldError[] => {
    const value = at(object, 'spec', field);
    const isNegative = typeof value === 'number' && value < 0;
    return isNegative ? [{ type: 'Invalid', path: `spec.${field}`, value, detail: notNegativeDetail }] : [];
  });
