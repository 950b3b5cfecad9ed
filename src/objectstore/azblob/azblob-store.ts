import type { Readable } from 'node:stream';
import {
  BlobServiceClient,
  type ContainerClient,
  type StoragePipelineOptions,
  StorageSharedKeyCredential,
} from '@azure/storage-blob';
import { Failure } from '../../std/failure.ts';
import type { StoreAddress } from '../address.ts';
import { keysOfSecret, requiredKeys, type StoreCredentials, workloadIdentity } from '../credentials.ts';
import type { StoreDriver, StoredObject } from '../store.ts';
import { explainAzblob } from './azblob-errors.ts';
import { uploadBlocks } from './blocks.ts';
import { serviceUrl } from './clouds.ts';

const keyNames = ['storage-account', 'storage-key'] as const;
/** No timeout per attempt: the server would apply it to the whole download. GuardedStore ends idle calls. */
const pipeline: StoragePipelineOptions = { retryOptions: { maxTries: 3, retryDelayInMs: 500 } };

/** Azure Blob Storage. */
export async function openAzblob(
  address: StoreAddress,
  credentials: StoreCredentials | undefined,
): Promise<StoreDriver> {
  const { identity, service } = await azureClient(address, credentials);
  const container = service.getContainerClient(address.bucket);
  const blob = (key: string): ReturnType<ContainerClient['getBlockBlobClient']> => container.getBlockBlobClient(key);
  return {
    place: `container "${address.bucket}" at ${service.url.replace(/\/$/, '')}`,
    identity,
    // The blob exists once its block list is committed. Azure deletes uncommitted blocks.
    put: (key, body, signal) => uploadBlocks(blob(key), body, signal),
    get: async (key, abortSignal) => {
      const answer = await blob(key).download(0, undefined, { abortSignal, maxRetryRequests: 0 });
      const body = answer.readableStreamBody as Readable;
      return { ...objectOf(key, answer.contentLength, answer.lastModified), body };
    },
    head: async (key, abortSignal) => {
      const answer = await blob(key).getProperties({ abortSignal });
      return objectOf(key, answer.contentLength, answer.lastModified);
    },
    list: async function* (prefix, abortSignal) {
      for await (const { name, properties } of container.listBlobsFlat({ prefix, abortSignal }))
        yield objectOf(name, properties.contentLength, properties.lastModified);
    },
    delete: async (key, abortSignal) => {
      await blob(key).delete({ abortSignal });
    },
    explain: explainAzblob,
  };
}

const objectOf = (key: string, size = 0, modified = new Date(0)): StoredObject => ({ key, size, modified });

interface AzureClient {
  readonly identity: string;
  readonly service: BlobServiceClient;
}

async function azureClient(address: StoreAddress, credentials: StoreCredentials | undefined): Promise<AzureClient> {
  if (credentials === undefined) return asWorkload(address);
  const { 'storage-account': account, 'storage-key': key } = requiredKeys(credentials, ...keyNames);
  const url = address.endpoint ?? serviceUrl(account, credentials.keys.get('cloud')?.trim());
  try {
    const service = new BlobServiceClient(url, new StorageSharedKeyCredential(account, key), pipeline);
    return { identity: keysOfSecret(credentials, ...keyNames), service };
  } catch (error) {
    const detail = `${keysOfSecret(credentials, 'storage-key')} is not a valid storage key: copy it from the storage account`;
    throw new Failure('rejected', detail, { cause: error });
  }
}

const accountFields = 'set endpoint https://NAME.blob.core.windows.net or, in a URL, azblob://…?storage_account=NAME';

async function asWorkload({ account, endpoint }: StoreAddress): Promise<AzureClient> {
  if (account === undefined && endpoint === undefined)
    throw new Failure('rejected', `without a Secret, the storage account must be named: ${accountFields}`);
  const { DefaultAzureCredential } = await import('@azure/identity');
  const url = endpoint ?? serviceUrl(account ?? '');
  return { identity: workloadIdentity, service: new BlobServiceClient(url, new DefaultAzureCredential(), pipeline) };
}
