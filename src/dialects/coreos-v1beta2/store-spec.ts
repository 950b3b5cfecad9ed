import { z } from 'zod';
import type { StorePath } from '../../core/model/store-place.ts';
import { secretName } from '../member-settings.ts';
import { looksLike, type Rule, ruled, text } from '../rule.ts';

/** Where a snapshot is kept, in the words that EtcdBackup and EtcdRestore share. */

const pathIn = (store: string, bucket: string) =>
  ruled(
    text(1280),
    looksLike(/^[^/]+(\/[^/]+)+$/, `Invalid ${store} path: write it as ${bucket}/key`), // begins as the original's message
  ).describe(`${bucket}/key of the object.`);

const endpoint = ruled(
  text(512),
  looksLike(
    /^((https?:\/\/)?[^/?#@ ]+(\/[^?#@ ]*)?)?$/,
    'must be a URL such as https://s3.example.com:9000, without credentials',
  ),
);

const optionalSecret = (says: string) => secretName.optional().describe(says);

export const s3 = z
  .object({
    path: pathIn('S3', 'bucket'),
    awsSecret: optionalSecret(
      'Secret with credentials and config, as the AWS command line has them. Without it, the workload identity of the pod.',
    ),
    endpoint: endpoint.optional().describe("An S3-compatible server in place of Amazon's."),
    forcePathStyle: z.boolean().optional().describe('https://server/bucket/key in place of https://bucket.server/key.'),
  })
  .describe('Amazon S3 and its kin.');

export const abs = z
  .object({
    path: pathIn('ABS', 'container'),
    absSecret: optionalSecret(
      'Secret with storage-account, storage-key and, if needed, cloud. Without it, the workload identity of the pod.',
    ),
    endpoint: endpoint
      .optional()
      .describe(
        "Another server in place of Azure's, with the account in its path; without a Secret also Azure's own, https://NAME.blob.core.windows.net, to say which account.",
      ),
  })
  .describe('Azure Blob Storage.');

export const gcs = z
  .object({
    path: pathIn('GCS', 'bucket'),
    gcpSecret: optionalSecret(
      'Secret with access-token or credentials.json. Without it, the workload identity of the pod.',
    ),
    endpoint: endpoint.optional().describe("Another server in place of Google's."),
  })
  .describe('Google Cloud Storage.');

export const oss = z
  .object({
    path: pathIn('OSS', 'bucket'),
    ossSecret: optionalSecret('Secret with accessKeyID and accessKeySecret.'),
    endpoint: endpoint.optional().describe('Server of the region; Hangzhou if left out.'),
  })
  .describe('Alibaba Cloud OSS.');

export const pvc = z
  .object({
    claimName: ruled(
      text(253),
      looksLike(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'must be the name of a PersistentVolumeClaim in this namespace'),
    ).describe('Volume claim in the namespace of this resource.'),
    path: ruled(
      text(1024),
      looksLike(
        /^[^/]+(\/[^/]+)*$/,
        'must be a path on the volume, such as backups/etcd.db, without a / at either end',
      ),
    ).describe('Path of the file on the volume.'),
  })
  .describe('A volume of your own.');

export const storageTypes = ['S3', 'ABS', 'GCS', 'OSS', 'PVC'] as const;
export type StorageType = (typeof storageTypes)[number];

export const storeFields = {
  s3: s3.optional(),
  abs: abs.optional(),
  gcs: gcs.optional(),
  oss: oss.optional(),
  pvc: pvc.optional(),
} as const;

export interface StoreSpec {
  readonly s3?: z.output<typeof s3> | undefined;
  readonly abs?: z.output<typeof abs> | undefined;
  readonly gcs?: z.output<typeof gcs> | undefined;
  readonly oss?: z.output<typeof oss> | undefined;
  readonly pvc?: z.output<typeof pvc> | undefined;
}

const fieldOf = (type: StorageType) => type.toLowerCase() as keyof StoreSpec;

/** For every kind of store, the rule that its own field is there. */
export const storeIsNamed = <F extends string>(
  typeField: F,
): readonly Rule<StoreSpec & Readonly<Record<F, StorageType>>>[] =>
  storageTypes.map((type) => ({
    cel: `self.${typeField} != '${type}' || has(self.${fieldOf(type)})`,
    says: `${typeField} is ${type}, so ${fieldOf(type)} must be set`,
    holds: (spec) => spec[typeField] !== type || spec[fieldOf(type)] !== undefined,
  }));

/** The store that is meant, in the core's words. */
export const placeOf = (type: StorageType, spec: StoreSpec): StorePath => ({
  field: `spec.${fieldOf(type)}.path`,
  ...places[type](spec),
});

const places: Readonly<Record<StorageType, (spec: StoreSpec) => Omit<StorePath, 'field'>>> = {
  S3: ({ s3: at }) => ({ kind: 's3', ...given(at, at?.awsSecret), pathStyle: at?.forcePathStyle }),
  ABS: ({ abs: at }) => ({ kind: 'azblob', ...given(at, at?.absSecret) }),
  GCS: ({ gcs: at }) => ({ kind: 'gcs', ...given(at, at?.gcpSecret) }),
  OSS: ({ oss: at }) => ({ kind: 'oss', ...given(at, at?.ossSecret) }),
  PVC: ({ pvc: at }) => ({ kind: 'file', path: `${at?.claimName}/${at?.path}` }),
};

const given = (
  store: { readonly path: string; readonly endpoint?: string | undefined } | undefined,
  secret: string | undefined,
): Pick<StorePath, 'path' | 'endpoint' | 'secret'> => ({
  path: store?.path ?? '',
  endpoint: store?.endpoint || undefined,
  secret: secret || undefined,
});
