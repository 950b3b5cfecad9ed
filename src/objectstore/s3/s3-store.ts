import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import type { StoreAddress } from '../address.ts';
import type { StoreCredentials } from '../credentials.ts';
import type { StoreDriver, StoredObject } from '../store.ts';
import { upload } from './multipart.ts';
import { type S3Credentials, s3Credentials } from './s3-credentials.ts';
import { explainS3 } from './s3-errors.ts';

/** Servers other than Amazon's accept any region. */
const anyRegion = 'us-east-1';

/** Amazon S3 and compatible servers. */
export async function openS3(address: StoreAddress, credentials: StoreCredentials | undefined): Promise<StoreDriver> {
  return s3Driver(address, await s3Credentials(credentials, address.profile));
}

export function s3Driver(address: StoreAddress, entry: S3Credentials): StoreDriver {
  const client = new S3Client(configOf(address, entry));
  signWithoutBodies(client);
  const Bucket = address.bucket;
  return {
    place: `bucket "${Bucket}" ${address.endpoint === undefined ? 'of Amazon S3' : `at ${address.endpoint}`}`,
    identity: entry.identity,
    put: (key, body, signal) => upload({ client, object: { Bucket, Key: key }, signal }, body),
    get: async (key, abortSignal) => {
      const answer = await client.send(new GetObjectCommand({ Bucket, Key: key }), { abortSignal });
      return { ...objectOf(key, answer.ContentLength, answer.LastModified), body: answer.Body as Readable };
    },
    head: async (key, abortSignal) => {
      const answer = await client.send(new HeadObjectCommand({ Bucket, Key: key }), { abortSignal });
      return objectOf(key, answer.ContentLength, answer.LastModified);
    },
    list: async function* (prefix, abortSignal) {
      const pages = paginateListObjectsV2({ client }, { Bucket, Prefix: prefix }, { abortSignal });
      for await (const { Contents = [] } of pages)
        for (const { Key = '', Size, LastModified } of Contents) yield objectOf(Key, Size, LastModified);
    },
    delete: async (key, abortSignal) => {
      await client.send(new DeleteObjectCommand({ Bucket, Key: key }), { abortSignal });
    },
    explain: explainS3,
    close: () => client.destroy(),
  };
}

/**
 * Signs requests without their bodies, as is usual over TLS: a second hash of a snapshot takes as long as sending it.
 * The MD5 of each part is compared with its ETag instead.
 */
function signWithoutBodies(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { readonly headers: Record<string, string> };
      headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
      return next(args);
    },
    { step: 'build', name: 'signWithoutBodies' },
  );
}

const objectOf = (key: string, size = 0, modified = new Date(0)): StoredObject => ({ key, size, modified });

function configOf({ endpoint, region, pathStyle }: StoreAddress, entry: S3Credentials): S3ClientConfig {
  const known = region ?? entry.region ?? (endpoint === undefined ? undefined : anyRegion);
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(known === undefined ? {} : { region: known }),
    ...(entry.credentials === undefined ? {} : { credentials: entry.credentials }),
    forcePathStyle: pathStyle === true,
    followRegionRedirects: true,
    // Many servers do not support checksum trailers of newer SDKs. ETags give the same protection.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 10_000, httpAgent: { keepAlive: true }, httpsAgent: { keepAlive: true } },
  };
}
