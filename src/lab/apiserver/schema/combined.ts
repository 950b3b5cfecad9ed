import type { FieldError } from '../refusal.ts';
import type { Schema } from './schema.ts';

/** Says what a schema finds wrong with the value in question. */
type Try = (schema: Schema) => readonly FieldError[];

/** Where a value does not fit as many of some further schemas as it must; why, is told by the first that it does not fit. */
export function combinedErrors({ anyOf, oneOf, allOf, not }: Schema, path: string, fit: Try): readonly FieldError[] {
  const tried = (schemas: readonly Schema[] | undefined): Tried | undefined =>
    schemas && { path, results: schemas.map(fit) };
  return [
    ...errorsOf(tried(anyOf), anyErrors),
    ...errorsOf(tried(oneOf), oneErrors),
    ...errorsOf(tried(allOf), allErrors),
    ...errorsOf(tried(not && [not]), noErrors),
  ];
}

/** What each of some schemas finds wrong with a value. */
interface Tried {
  readonly path: string;
  readonly results: readonly (readonly FieldError[])[];
}

const errorsOf = (
  tried: Tried | undefined,
  judge: (tried: Tried, fitting: number) => readonly FieldError[],
): readonly FieldError[] =>
  tried === undefined ? [] : judge(tried, tried.results.filter((errors) => errors.length === 0).length);

/** The real server knows no field for these, and says so. */
const must = ({ path }: Tried, says: string): FieldError => ({
  ...{ type: 'Invalid', path: '<nil>', value: '' },
  says: `"${path}" must ${says}`,
});

const anyErrors = (tried: Tried, fitting: number): readonly FieldError[] =>
  fitting > 0 ? [] : [must(tried, 'validate at least one schema (anyOf)'), ...(tried.results[0] ?? [])];

function oneErrors(tried: Tried, fitting: number): readonly FieldError[] {
  const says = 'validate one and only one schema (oneOf). Found';
  if (fitting === 0) return [must(tried, `${says} none valid`), ...(tried.results[0] ?? [])];
  return fitting === 1 ? [] : [must(tried, `${says} ${fitting} valid alternatives`)];
}

function allErrors(tried: Tried, fitting: number): readonly FieldError[] {
  if (fitting === tried.results.length) return [];
  const none = fitting === 0 ? '. None validated' : '';
  return [...tried.results.flat(), must(tried, `validate all the schemas (allOf)${none}`)];
}

const noErrors = (tried: Tried, fitting: number): readonly FieldError[] =>
  fitting === 0 ? [] : [must(tried, 'not validate the schema (not)')];
