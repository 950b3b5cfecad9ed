import { z } from 'zod';
import type { Rule } from './rule.ts';

const texts = z.record(z.string(), z.string()).optional().catch(undefined);

/** What is read of an object's metadata, with a name that keeps these rules. */
export const metadataWith = (nameRules: readonly Rule<string>[]) =>
  z
    .object({
      name: nameRules.reduce<z.ZodString>((before, { holds, says }) => before.refine(holds, says), z.string()),
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
      error: 'must not be kubernetes in the namespace default: the Service of that name is the way to the API server',
    });
