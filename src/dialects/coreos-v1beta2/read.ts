import { z } from 'zod';
import type { Parsed } from '../parsed.ts';
import { problemsOf, withoutNulls } from '../reading.ts';
import { nameRules } from './names.ts';
import { etcdClusterSpec } from './spec.ts';
import { foundStatus } from './status.ts';

const texts = z.record(z.string(), z.string()).optional().catch(undefined);

const name = nameRules.reduce<z.ZodString>((before, { holds, says }) => before.refine(holds, says), z.string());

const metadata = z
  .object({
    name,
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
  .refine(({ name: wanted, namespace }) => wanted !== 'kubernetes' || namespace !== 'default', {
    path: ['name'],
    error: 'must not be kubernetes in the namespace default: the Service of that name is the way to the API server',
  });

const etcdCluster = z.object({ metadata, spec: etcdClusterSpec, status: foundStatus.default({}) });

/** An EtcdCluster that makes sense, with what was left out filled in. */
export type EtcdClusterResource = z.output<typeof etcdCluster>;

/**
 * Reads whatever the API server has stored under the name of an EtcdCluster: with our schema, with an older one, or with
 * none. Never throws; gives every problem with its path. Fields it does not know are left out, and null means absent.
 */
export function readEtcdCluster(raw: unknown): Parsed<EtcdClusterResource> {
  const read = etcdCluster.safeParse(withoutNulls(raw), { reportInput: true });
  return read.success ? { ok: true, value: read.data } : { ok: false, problems: problemsOf(read.error) };
}
