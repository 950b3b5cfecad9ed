import type { KubeObject } from '../object.ts';
import type { FieldError } from '../refusal.ts';
import { brokenRules, hasRules } from '../schema/rules.ts';
import { misshapen } from '../schema/validate.ts';
import type { ResourceType } from '../types/resource-type.ts';

/** Rules cannot be asked about a value of the wrong type, or of one that may be endless. */
const preventsRules = new Set<FieldError['type']>(['Required', 'TypeInvalid', 'TooLong', 'TooMany', 'NotSupported']);

const notChecked: FieldError = {
  type: 'Invalid',
  path: '<nil>',
  value: null,
  says: 'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/** What the definition of a custom resource finds wrong with an object. */
export function customErrors(type: ResourceType, object: KubeObject, old?: KubeObject): readonly FieldError[] {
  if (type.custom === undefined) return [];
  const spot = { path: '', old };
  const errors = misshapen(object, type.schema, spot);
  if (!errors.some((error) => preventsRules.has(error.type)))
    return [...errors, ...brokenRules(object, type.schema, spot)];
  return hasRules(type.schema) ? [...errors, notChecked] : errors;
}
