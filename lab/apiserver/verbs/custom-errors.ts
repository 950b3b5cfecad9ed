import type { KubeObject } from '../object.ts';
import { hasRules, ruleErrors } from '../schema/rules.ts';
import { schemaErrors } from '../schema/validate.ts';
import type { FieldError } from '../status-error.ts';
import type { ResourceType } from '../types/resource-type.ts';

/** Schema errors that prevent CEL rules: a value of the wrong type or of unlimited size cannot be evaluated. */
const preventsRules = new Set<FieldError['type']>(['Required', 'TypeInvalid', 'TooLong', 'TooMany', 'NotSupported']);

const notChecked: FieldError = {
  type: 'Invalid',
  path: '<nil>',
  value: null,
  detail:
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/** The schema and CEL errors of a custom resource. */
export function customErrors(type: ResourceType, object: KubeObject, old?: KubeObject): readonly FieldError[] {
  if (type.custom === undefined) return [];
  const spot = { path: '', old };
  const errors = schemaErrors(object, type.schema, spot);
  if (!errors.some((error) => preventsRules.has(error.type)))
    return [...errors, ...ruleErrors(object, type.schema, spot)];
  return hasRules(type.schema) ? [...errors, notChecked] : errors;
}
