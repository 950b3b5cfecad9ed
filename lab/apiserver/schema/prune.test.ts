import { expect, it } from 'vitest';
import { celValue, evaluate } from './cel.ts';
import { prune } from './prune.ts';
import type { Schema } from './schema.ts';

const schema: Schema = {
  type: 'object',
  properties: { labels: { type: 'object', additionalProperties: { type: 'string' } }, size: { type: 'integer' } },
};

const pruned = (text: string) => {
  const unknown: string[] = [];
  return { kept: JSON.stringify(prune(JSON.parse(text), schema, { unknown, dropsNull: false })), unknown };
};

it('a field with a name that every object inherits is unknown', () => {
  expect(pruned('{"size":1,"constructor":"x","toString":"y"}')).toEqual({
    kept: '{"size":1}',
    unknown: ['constructor', 'toString'],
  });
});

it('the key __proto__ of a map is kept as any other key', () => {
  const text = '{"labels":{"__proto__":"x","constructor":"y"}}';
  expect(pruned(text)).toEqual({ kept: text, unknown: [] });
});

it('a rule sees the keys __proto__ and constructor of a map', () => {
  const self = celValue(JSON.parse('{"labels":{"__proto__":"x"}}'), schema);
  expect(evaluate("self.labels.all(name, name.matches('^[a-z]+$'))", { self })).toBe(false);
  expect(evaluate('self.labels.size() == 1', { self })).toBe(true);
  const other = celValue(JSON.parse('{"size":1,"constructor":"x"}'), {});
  expect(evaluate('has(self.size) && self.size == 1', { self: other })).toBe(true);
});
