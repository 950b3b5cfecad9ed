import { expect, it } from 'vitest';
import type { Schema } from './schema.ts';
import { schemaErrors } from './validate.ts';

const details = (value: unknown, schema: Schema): readonly string[] =>
  schemaErrors(value, schema, { path: 'spec' }).map((error) => error.detail);
const [a, b] = [{ required: ['a'] }, { required: ['b'] }];

it('anyOf requires at least one matching schema', () => {
  const schema = { type: 'object', anyOf: [a, b] };
  expect(details({ a: 1, b: 1 }, schema)).toEqual([]);
  expect(details({}, schema)).toEqual(['"spec" must validate at least one schema (anyOf)', '']);
});

it('oneOf requires exactly one matching schema', () => {
  const schema = { type: 'object', oneOf: [a, b] };
  expect(details({ b: 1 }, schema)).toEqual([]);
  const prefix = '"spec" must validate one and only one schema (oneOf). Found';
  expect(details({ a: 1, b: 1 }, schema)).toEqual([`${prefix} 2 valid alternatives`]);
  expect(details({}, schema)).toEqual([`${prefix} none valid`, '']);
});

it('allOf requires all schemas to match, and not requires none', () => {
  expect(details({ a: 1 }, { allOf: [a, b] })).toEqual(['', '"spec" must validate all the schemas (allOf)']);
  expect(details({}, { allOf: [a] })).toEqual(['', '"spec" must validate all the schemas (allOf). None validated']);
  expect(details({ a: 1 }, { not: a })).toEqual(['"spec" must not validate the schema (not)']);
  expect(details({ b: 1 }, { allOf: [b], not: a })).toEqual([]);
});

it('an int-or-string accepts an integer and a string', () => {
  const schema = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] };
  for (const value of [1, '1']) expect(details(value, schema)).toEqual([]);
  expect(details(true, schema)).toHaveLength(3);
});
