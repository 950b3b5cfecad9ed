import { expect, it } from 'vitest';
import type { Schema } from './schema.ts';
import { misshapen } from './validate.ts';

const says = (value: unknown, schema: Schema): readonly string[] =>
  misshapen(value, schema, { path: 'spec' }).map((error) => error.says);
const [a, b] = [{ required: ['a'] }, { required: ['b'] }];

it('holds a value to schemas of which some must fit', () => {
  const schema = { type: 'object', anyOf: [a, b] };
  expect(says({ a: 1, b: 1 }, schema)).toEqual([]);
  expect(says({}, schema)).toEqual(['"spec" must validate at least one schema (anyOf)', '']);
});

it('holds a value to schemas of which exactly one must fit', () => {
  const schema = { type: 'object', oneOf: [a, b] };
  expect(says({ b: 1 }, schema)).toEqual([]);
  const words = '"spec" must validate one and only one schema (oneOf). Found';
  expect(says({ a: 1, b: 1 }, schema)).toEqual([`${words} 2 valid alternatives`]);
  expect(says({}, schema)).toEqual([`${words} none valid`, '']);
});

it('holds a value to schemas of which all must fit, or none', () => {
  expect(says({ a: 1 }, { allOf: [a, b] })).toEqual(['', '"spec" must validate all the schemas (allOf)']);
  expect(says({}, { allOf: [a] })).toEqual(['', '"spec" must validate all the schemas (allOf). None validated']);
  expect(says({ a: 1 }, { not: a })).toEqual(['"spec" must not validate the schema (not)']);
  expect(says({ b: 1 }, { allOf: [b], not: a })).toEqual([]);
});

it('takes a number or a text where either will do', () => {
  const schema = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] };
  for (const value of [1, '1']) expect(says(value, schema)).toEqual([]);
  expect(says(true, schema)).toHaveLength(3);
});
