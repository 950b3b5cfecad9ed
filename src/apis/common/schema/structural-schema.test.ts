import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { structuralSchemaOf } from './structural-schema.ts';

describe('a schema for the API server', () => {
  it('has no bounds that the zod schema does not set', () => {
    expect(structuralSchemaOf(z.int())).toEqual({ type: 'integer' });
    expect(structuralSchemaOf(z.int().min(1).max(9))).toEqual({ type: 'integer', minimum: 1, maximum: 9 });
  });

  it('keeps defaults, descriptions and extensions of Kubernetes', () => {
    const schema = z.object({ list: z.array(z.string()).max(3).meta({ 'x-kubernetes-list-type': 'set' }).default([]) });
    expect(structuralSchemaOf(schema.describe('a thing'))).toEqual({
      type: 'object',
      description: 'a thing',
      properties: {
        list: { type: 'array', default: [], maxItems: 3, 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      },
    });
  });

  it('of a loose object has x-kubernetes-preserve-unknown-fields', () => {
    expect(structuralSchemaOf(z.looseObject({ known: z.boolean().optional() }))).toEqual({
      type: 'object',
      properties: { known: { type: 'boolean' } },
      'x-kubernetes-preserve-unknown-fields': true,
    });
    expect(structuralSchemaOf(z.record(z.string(), z.string()))).toEqual({
      type: 'object',
      additionalProperties: { type: 'string' },
    });
  });

  it('of a zod schema that the API server would refuse is an error with the path', () => {
    const choice = z.object({ inner: z.union([z.string(), z.boolean()]) });
    expect(() => structuralSchemaOf(choice)).toThrow('.inner: "anyOf" is not allowed in a CRD');
    expect(() => structuralSchemaOf(z.object({ inner: z.string().regex(/a/) }))).toThrow('.inner: "pattern"');
    expect(() => structuralSchemaOf(z.object({ inner: z.unknown() }))).toThrow('.inner: has no type');
  });
});
