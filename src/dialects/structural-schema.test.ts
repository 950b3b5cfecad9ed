import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { structuralSchemaOf } from './structural-schema.ts';

describe('a schema for the API server', () => {
  it('has no bounds that nobody asked for', () => {
    expect(structuralSchemaOf(z.int())).toEqual({ type: 'integer' });
    expect(structuralSchemaOf(z.int().min(1).max(9))).toEqual({ type: 'integer', minimum: 1, maximum: 9 });
  });

  it('keeps defaults, descriptions and what Kubernetes adds', () => {
    const schema = z.object({ list: z.array(z.string()).max(3).meta({ 'x-kubernetes-list-type': 'set' }).default([]) });
    expect(structuralSchemaOf(schema.describe('a thing'))).toEqual({
      type: 'object',
      description: 'a thing',
      properties: {
        list: { type: 'array', default: [], maxItems: 3, 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      },
    });
  });

  it('says in Kubernetes’ words that other fields are kept', () => {
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

  it('is not made of what the API server would refuse', () => {
    const choice = z.object({ inner: z.union([z.string(), z.boolean()]) });
    expect(() => structuralSchemaOf(choice)).toThrow('.inner: "anyOf" has no place in a CRD');
    expect(() => structuralSchemaOf(z.object({ inner: z.string().regex(/a/) }))).toThrow('.inner: "pattern"');
    expect(() => structuralSchemaOf(z.object({ inner: z.unknown() }))).toThrow('.inner: has no type');
  });
});
