import type { FieldError } from '../status-error.ts';
import type { Schema } from './schema.ts';

/** The errors of a value under a schema. */
type Validate = (schema: Schema) => readonly FieldError[];

/** The errors of a value under anyOf, oneOf, allOf and not. */
export function combinedErrors(
  { anyOf, oneOf, allOf, not }: Schema,
  path: string,
  validate: Validate,
): readonly FieldError[] {
  const results = (schemas: readonly Schema[] | undefined): Results | undefined =>
    schemas && { path, errors: schemas.map(validate) };
  return [
    ...errorsOf(results(anyOf), anyErrors),
    ...errorsOf(results(oneOf), oneErrors),
    ...errorsOf(results(allOf), allErrors),
    ...errorsOf(results(not && [not]), noErrors),
  ];
}

/** The errors of a value under each of several schemas. */
interface Results {
  readonly path: string;
  readonly errors: readonly (readonly FieldError[])[];
}

const errorsOf = (
  results: Results | undefined,
  judge: (results: Results, fitting: number) => readonly FieldError[],
): readonly FieldError[] =>
  results === undefined ? [] : judge(results, results.errors.filter((each) => each.length === 0).length);

/** Kubernetes reports these errors without a field. */
const must = ({ path }: Results, detail: string): FieldError => ({
  type: 'Invalid',
  path: '<nil>',
  value: '',
  detail: `"${path}" must ${detail}`,
});

const anyErrors = (results: Results, fitting: number): readonly FieldError[] =>
  fitting > 0 ? [] : [must(results, 'validate at least one schema (anyOf)'), ...(results.errors[0] ?? [])];

function oneErrors(results: Results, fitting: number): readonly FieldError[] {
  const detail = 'validate one and only one schema (oneOf). Found';
  if (fitting === 0) return [must(results, `${detail} none valid`), ...(results.errors[0] ?? [])];
  return fitting === 1 ? [] : [must(results, `${detail} ${fitting} valid alternatives`)];
}

function allErrors(results: Results, fitting: number): readonly FieldError[] {
  if (fitting === results.errors.length) return [];
  const none = fitting === 0 ? '. None validated' : '';
  return [...results.errors.flat(), must(results, `validate all the schemas (allOf)${none}`)];
}

const noErrors = (results: Results, fitting: number): readonly FieldError[] =>
  fitting === 0 ? [] : [must(results, 'not validate the schema (not)')];
