import { z } from 'zod';
import type { ValidationRule } from './rule.ts';

const texts = z.record(z.string(), z.string()).optional().catch(undefined);

/** The schema of object metadata, with rules for the name. */
export const metadataWith = (nameRules: readonly ValidationRule<string>[]) =>
  z
    .object({
      name: nameRules.reduce<z.ZodString>((before, { holds, message }) => before.refine(holds, message), z.string()),
      namespace: z.string(),
      uid: z.string(),
      generation: z.int().optional().catch(undefined),
      resourceVersion: z.string().optional().catch(undefined),
      creationTimestamp: z.string().optional().catch(undefined),
      deletionTimestamp: z.string().optional().catch(undefined),
      finalizers: z.array(z.string()).optional().catch(undefined),
      labels: texts,
      annotations: texts,
    })
    .refine(({ name, namespace }) => name !== 'kubernetes' || namespace !== 'default', {
      path: ['name'],
      error: 'must not be kubernetes in the namespace default: that is the Service of the API server',
    });
