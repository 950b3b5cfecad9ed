import { z } from 'zod';
import { Failure } from '../std/failure.ts';

export const compressions = ['none', 'gzip', 'zstd'] as const;
export type Compression = (typeof compressions)[number];

/** Longer ones are none of ours: a manifest is read whole. */
export const longestManifest = 1024 * 1024;

const wholeNumber = z.int().nonnegative();
const decimal = z.string().regex(/^\d{1,20}$/);

/** For whom a backup was made. */
export const ownerSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  uid: z.string().min(1),
});

/** The cluster as it was asked for, so that it can be made again from the store alone. */
export const clusterSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  spec: z.record(z.string(), z.unknown()),
});

const manifestSchema = z.object({
  format: z.literal('etcd-operator/snapshot/v1'),
  takenAt: z.iso.datetime(),
  snapshot: z.object({
    key: z.string().min(1),
    /** As it is stored. */
    size: wholeNumber,
    compression: z.enum(compressions),
    /** Before compression, with the hash at the end. */
    plainSize: wholeNumber,
    /** Of the database: what etcd itself puts at the end. */
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  etcd: z.object({
    version: z.string(),
    storageVersion: z.string().optional(),
    /** What was there when the snapshot began; writes that came while it was taken may be in it too. */
    revision: decimal,
    clusterId: z.string().regex(/^[0-9a-f]{1,16}$/),
    memberId: z.string().regex(/^[0-9a-f]{1,16}$/),
  }),
  owner: ownerSchema.optional(),
  cluster: clusterSchema.optional(),
});

/** What is kept beside each snapshot. */
export type Manifest = z.infer<typeof manifestSchema>;
export type Owner = z.infer<typeof ownerSchema>;

export const writeManifest = (manifest: Omit<Manifest, 'format'>): Buffer =>
  Buffer.from(`${JSON.stringify({ format: 'etcd-operator/snapshot/v1', ...manifest }, null, 2)}\n`);

/** Reads a manifest; a bad one is told in words, because somebody may have edited it. */
export function readManifest(text: string): Manifest {
  const read = manifestSchema.safeParse(parsed(text));
  if (read.success) return read.data;
  const [problem] = read.error.issues;
  throw new Failure('rejected', `the manifest is no good: ${problem?.path.join('.') || 'it'}: ${problem?.message}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure('rejected', 'the manifest is not JSON', { cause: error });
  }
}
