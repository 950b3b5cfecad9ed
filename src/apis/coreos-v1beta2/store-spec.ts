import { z } from 'zod';
import type { StorePath } from '../../core/backup/store-location.ts';
import { secretName } from '../common/member-settings.ts';
import { looksLike, text, type ValidationRule, withRules } from '../common/schema/rule.ts';

/** The store fields of EtcdBackup and EtcdRestore. */

const pathIn = (store: string, bucket: string) =>
  withRules(
    text(1280),
    looksLike(/^[^/]+(\/[^/]+)+$/, `Invalid ${store} path: write it as ${bucket}/key`), // begins as the original's message
  ).describe(`path is the ${bucket} and key of the object: ${bucket}/key.`);

const endpoint = withRules(
  text(512),
  looksLike(
    /^((https?:\/\/)?[^/?#@ ]+(\/[^?#@ ]*)?)?$/,
    'must be a URL such as https://s3.example.com:9000, without credentials',
  ),
);

const optionalSecret = (description: string) => secretName.optional().describe(description);

export const s3 = z
  .object({
    path: pathIn('S3', 'bucket'),
    awsSecret: optionalSecret(
      'awsSecret is the Secret with the files credentials and config of the AWS CLI. Without it, the workload identity of the pod is used.',
    ),
    endpoint: endpoint.optional().describe('endpoint is the URL of an S3-compatible server. Defaults to Amazon S3.'),
    forcePathStyle: z
      .boolean()
      .optional()
      .describe('forcePathStyle uses https://server/bucket/key instead of https://bucket.server/key.'),
  })
  .describe('s3 is Amazon S3 or an S3-compatible store.');

export const abs = z
  .object({
    path: pathIn('ABS', 'container'),
    absSecret: optionalSecret(
      'absSecret is the Secret with storage-account, storage-key and, if needed, cloud. Without it, the workload identity of the pod is used.',
    ),
    endpoint: endpoint
      .optional()
      .describe(
        'endpoint is the URL of another server, with the account in its path. Without a Secret, https://NAME.blob.core.windows.net selects the account.',
      ),
  })
  .describe('abs is Azure Blob Storage.');

export const gcs = z
  .object({
    path: pathIn('GCS', 'bucket'),
    gcpSecret: optionalSecret(
      'gcpSecret is the Secret with access-token or credentials.json. Without it, the workload identity of the pod is used.',
    ),
    endpoint: endpoint.optional().describe('endpoint is the URL of another server. Defaults to Google Cloud Storage.'),
  })
  .describe('gcs is Google Cloud Storage.');

export const oss = z
  .object({
    path: pathIn('OSS', 'bucket'),
    ossSecret: optionalSecret('ossSecret is the Secret with accessKeyID and accessKeySecret.'),
    endpoint: endpoint.optional().describe('endpoint is the server of the region. Defaults to Hangzhou.'),
  })
  .describe('oss is Alibaba Cloud OSS.');

export const pvc = z
  .object({
    claimName: withRules(
      text(253),
      looksLike(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'must be the name of a PersistentVolumeClaim in this namespace'),
    ).describe('claimName is the PersistentVolumeClaim in this namespace.'),
    path: withRules(
      text(1024),
      looksLike(
        /^[^/]+(\/[^/]+)*$/,
        'must be a path on the volume, such as backups/etcd.db, without a / at either end',
      ),
    ).describe('path is the path of the file on the volume.'),
  })
  .describe('pvc is a volume of your own.');

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

/** The rules that the field of the selected store is set. */
export const storeIsNamed = <F extends string>(
  typeField: F,
): readonly ValidationRule<StoreSpec & Readonly<Record<F, StorageType>>>[] =>
  storageTypes.map((type) => ({
    cel: `self.${typeField} != '${type}' || has(self.${fieldOf(type)})`,
    message: `${typeField} is ${type}, so ${fieldOf(type)} must be set`,
    holds: (spec) => spec[typeField] !== type || spec[fieldOf(type)] !== undefined,
  }));

/** The selected store, in the core's types. */
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
