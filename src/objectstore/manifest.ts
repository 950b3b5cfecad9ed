import { z } from 'zod';
import { Failure } from '../std/failure.ts';

export const compressions = ['none', 'gzip', 'zstd'] as const;
export type Compression = (typeof compressions)[number];

/** Maximum size of a manifest, which is read into memory. */
export const longestManifest = 1024 * 1024;

const wholeNumber = z.int().nonnegative();
const decimal = z.string().regex(/^\d{1,20}$/);

/** The resource that owns a backup. */
export const ownerSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  uid: z.string().min(1),
});

/** The spec of the cluster, so that it can be created again from the store alone. */
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
    /** Size of the stored object. */
    size: wholeNumber,
    compression: z.enum(compressions),
    /** Size before compression, including the hash at the end. */
    plainSize: wholeNumber,
    /** Hash of the database, which etcd appends to the snapshot. */
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  etcd: z.object({
    version: z.string(),
    storageVersion: z.string().optional(),
    /** Revision at the start of the snapshot; it may contain later writes, too. */
    revision: decimal,
    clusterId: z.string().regex(/^[0-9a-f]{1,16}$/),
    memberId: z.string().regex(/^[0-9a-f]{1,16}$/),
  }),
  owner: ownerSchema.optional(),
  cluster: clusterSchema.optional(),
});

/** The manifest that is stored beside each snapshot. */
export type SnapshotManifest = z.infer<typeof manifestSchema>;
export type Owner = z.infer<typeof ownerSchema>;

export const writeManifest = (manifest: Omit<SnapshotManifest, 'format'>): Buffer =>
  Buffer.from(`${JSON.stringify({ format: 'etcd-operator/snapshot/v1', ...manifest }, null, 2)}\n`);

/** Parses a manifest. The error names the invalid field, because manifests may be edited by hand. */
export function readManifest(text: string): SnapshotManifest {
  const read = manifestSchema.safeParse(parsed(text));
  if (read.success) return read.data;
  const [problem] = read.error.issues;
  throw new Failure(
    'rejected',
    `the manifest is invalid: ${problem?.path.join('.') || 'document'}: ${problem?.message}`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure('rejected', 'the manifest is not JSON', { cause: error });
  }
}
