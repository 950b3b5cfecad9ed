import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Bucket, type FileMetadata, Storage, type StorageOptions } from '@google-cloud/storage';
import { OAuth2Client } from 'google-auth-library';
import { Failure } from '../../std/failure.ts';
import type { StoreAddress } from '../address.ts';
import { keysOfSecret, type StoreCredentials, workloadIdentity } from '../credentials.ts';
import type { ByteStream, StoreDriver, StoredObject } from '../store.ts';
import { explainGcs } from './gcs-errors.ts';

const tokenKey = 'access-token';
const fileKey = 'credentials.json';
/** Bytes kept in memory until the store confirms them, for retries. */
const chunkSize = 16 * 1024 * 1024;

/** Google Cloud Storage. */
export async function openGcs(address: StoreAddress, credentials: StoreCredentials | undefined): Promise<StoreDriver> {
  const { identity, options } = gcsCredentials(credentials);
  const { endpoint } = address;
  const storage = new Storage({ ...options, ...(endpoint === undefined ? {} : { apiEndpoint: endpoint }) });
  const bucket = storage.bucket(address.bucket);
  return {
    place: `bucket "${address.bucket}" ${endpoint === undefined ? 'of Google Cloud Storage' : `at ${endpoint}`}`,
    identity,
    put: (key, body, signal) => write(bucket, key, { body, signal }),
    get: async (key, signal) => {
      const [metadata] = await bucket.file(key).getMetadata();
      const file = bucket.file(key, metadata.generation === undefined ? {} : { generation: metadata.generation });
      const body = file.createReadStream({ validation: false, decompress: false });
      signal.addEventListener('abort', () => body.destroy(), { once: true });
      return { ...objectOf(key, metadata), body };
    },
    head: async (key) => objectOf(key, (await bucket.file(key).getMetadata())[0]),
    list: (prefix, signal) => listed(bucket, prefix, signal),
    delete: async (key) => {
      await bucket.file(key).delete();
    },
    explain: explainGcs,
  };
}

interface GcsCredentials {
  readonly identity: string;
  readonly options: Pick<StorageOptions, 'authClient' | 'credentials' | 'projectId'>;
}

function gcsCredentials(credentials: StoreCredentials | undefined): GcsCredentials {
  if (credentials === undefined) return { identity: workloadIdentity, options: {} };
  const token = credentials.keys.get(tokenKey)?.trim();
  const file = credentials.keys.get(fileKey);
  if (token) {
    const authClient = new OAuth2Client();
    authClient.setCredentials({ access_token: token });
    return { identity: keysOfSecret(credentials, tokenKey), options: { authClient, projectId: 'none' } };
  }
  if (file !== undefined)
    return { identity: keysOfSecret(credentials, fileKey), options: { credentials: accountIn(file, credentials) } };
  const missing = `Secret "${credentials.secret}" has neither "${tokenKey}" nor "${fileKey}"`;
  return { identity: `${workloadIdentity} (${missing})`, options: {} };
}

function accountIn(file: string, credentials: StoreCredentials): NonNullable<StorageOptions['credentials']> {
  try {
    return JSON.parse(file) as NonNullable<StorageOptions['credentials']>;
  } catch (error) {
    const detail = `${keysOfSecret(credentials, fileKey)} is not JSON: store the key file of the Google service account there`;
    throw new Failure('rejected', detail, { cause: error });
  }
}

const objectOf = (key: string, { size, updated, timeCreated }: FileMetadata): StoredObject => ({
  key,
  size: Number(size ?? 0),
  modified: new Date(updated ?? timeCreated ?? 0),
});

/**
 * The object of a resumable upload appears when the upload is complete; abandoned uploads expire. The library compares
 * the MD5 with that of the store, and deletes an object with another MD5 or none.
 */
async function write(
  bucket: Bucket,
  key: string,
  { body, signal }: { body: ByteStream; signal: AbortSignal },
): Promise<true> {
  const stream = bucket.file(key).createWriteStream({ resumable: true, chunkSize, validation: 'md5' });
  await pipeline(Readable.from(body, { objectMode: false }), stream, { signal });
  return true;
}

async function* listed(bucket: Bucket, prefix: string, signal: AbortSignal): AsyncGenerator<StoredObject> {
  for (let pageToken: string | undefined, more = true; more; more = pageToken !== undefined) {
    signal.throwIfAborted();
    const query = { prefix, autoPaginate: false, ...(pageToken === undefined ? {} : { pageToken }) };
    const [files, next] = await bucket.getFiles(query);
    for (const { name, metadata } of files) yield objectOf(name, metadata);
    pageToken = (next as { pageToken?: string } | null)?.pageToken;
  }
}
