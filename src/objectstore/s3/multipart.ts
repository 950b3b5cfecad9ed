import { hash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { inParts, type Part } from '../parts.ts';
import { closeSource, sendParts } from '../send-parts.ts';
import type { ByteStream } from '../store.ts';

/** An upload needs memory for the parts in flight, and for one more that is being filled. */
const partSize = 8 * 1024 * 1024;
const partsAtOnce = 3;
/** Timeout for the abort of an upload. */
const abortMillis = 4_000;

interface Target {
  readonly client: S3Client;
  readonly object: { readonly Bucket: string; readonly Key: string };
  readonly signal: AbortSignal;
}

/**
 * Sends a body of unknown length, as one request if it fits into one part. S3 shows the object only when it is
 * complete. True if the ETag of every part is the MD5 of the bytes sent. Servers that encrypt, and some others, have
 * other ETags.
 */
export async function upload(target: Target, body: ByteStream): Promise<boolean> {
  const parts = inParts(body, partSize);
  const first = await parts.next();
  if (first.done === true) return false;
  return first.value.isLast ? putWhole(target, first.value) : putInParts(target, first.value, parts);
}

async function putWhole({ client, object, signal }: Target, { bytes }: Part): Promise<boolean> {
  const { ETag } = await client.send(new PutObjectCommand({ ...object, Body: bytes }), { abortSignal: signal });
  return isMd5Of(bytes, ETag);
}

async function putInParts(target: Target, first: Part, rest: AsyncGenerator<Part, void, undefined>): Promise<boolean> {
  const { client, object, signal } = target;
  const creating = client.send(new CreateMultipartUploadCommand(object), { abortSignal: signal });
  const { UploadId = '' } = await creating.catch(async (thrown: unknown) => {
    await closeSource(rest);
    throw thrown;
  });
  try {
    const send = (part: Part, either: AbortSignal) => sendPart({ ...target, signal: either }, UploadId, part);
    const sent = await sendParts(withFirst(first, rest), { atOnce: partsAtOnce, signal, send });
    const Parts = sent.map(({ PartNumber, ETag }) => ({ PartNumber, ETag }));
    const complete = new CompleteMultipartUploadCommand({ ...object, UploadId, MultipartUpload: { Parts } });
    await client.send(complete, { abortSignal: signal });
    return sent.every(({ isConfirmed }) => isConfirmed);
  } catch (error) {
    await abortUpload(target, UploadId);
    throw error;
  }
}

async function sendPart({ client, object, signal }: Target, UploadId: string, { number, bytes }: Part) {
  const part = new UploadPartCommand({ ...object, UploadId, PartNumber: number, Body: bytes });
  const { ETag } = await client.send(part, { abortSignal: signal });
  return { PartNumber: number, ETag, isConfirmed: isMd5Of(bytes, ETag) };
}

const isMd5Of = (bytes: Buffer, etag = ''): boolean => hash('md5', bytes) === etag.replaceAll('"', '').toLowerCase();

/** Aborts the upload. If that fails, the lifecycle rule of the bucket deletes the parts, which are never visible. */
async function abortUpload({ client, object }: Target, UploadId: string): Promise<void> {
  const abort = new AbortMultipartUploadCommand({ ...object, UploadId });
  await client.send(abort, { abortSignal: AbortSignal.timeout(abortMillis) }).catch(() => undefined);
}

async function* withFirst(first: Part, rest: AsyncGenerator<Part, void, undefined>) {
  try {
    yield first;
    yield* rest;
  } finally {
    await closeSource(rest); // the first part may fail before `rest` is read
  }
}
