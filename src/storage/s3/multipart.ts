import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { inParts, type Part } from '../parts.ts';
import type { Body } from '../store.ts';

/** The most memory that one upload takes is their product, and one part more that is being filled. */
const partSize = 8 * 1024 * 1024;
const partsAtOnce = 3;
/** How long the clearing away of what was sent may take. */
const abortMillis = 4_000;

interface Target {
  readonly client: S3Client;
  readonly object: { readonly Bucket: string; readonly Key: string };
  readonly signal: AbortSignal;
}

/** Sends a body of unknown length. What fits into one part goes as one request; S3 shows neither way before it is whole. */
export async function upload(target: Target, body: Body): Promise<void> {
  const parts = inParts(body, partSize);
  const first = await parts.next();
  if (first.done === true) return;
  if (first.value.isLast) await putWhole(target, first.value);
  else await putInParts(target, first.value, parts);
}

async function putWhole({ client, object, signal }: Target, { bytes }: Part): Promise<void> {
  await client.send(new PutObjectCommand({ ...object, Body: bytes }), { abortSignal: signal });
}

async function putInParts(target: Target, first: Part, rest: AsyncGenerator<Part, void, undefined>): Promise<void> {
  const { client, object, signal } = target;
  const { UploadId = '' } = await client.send(new CreateMultipartUploadCommand(object), { abortSignal: signal });
  try {
    const Parts = await sendAll(target, UploadId, withFirst(first, rest));
    const complete = new CompleteMultipartUploadCommand({ ...object, UploadId, MultipartUpload: { Parts } });
    await client.send(complete, { abortSignal: signal });
  } catch (error) {
    await rest.return().catch(() => undefined);
    await clearAway(target, UploadId);
    throw error;
  }
}

interface SentPart {
  readonly PartNumber: number;
  readonly ETag: string | undefined;
}

async function sendAll(target: Target, uploadId: string, parts: AsyncGenerator<Part, void, undefined>) {
  const failed = new AbortController();
  const signal = AbortSignal.any([target.signal, failed.signal]);
  const sent: SentPart[] = [];
  const sender = async (): Promise<void> => {
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
      sent.push(await sendPart({ ...target, signal }, uploadId, next.value));
      next.value.release();
    }
  };
  const senders = Array.from({ length: partsAtOnce }, () =>
    sender().catch((error: unknown) => {
      failed.abort(); // one part that cannot be sent ends the others
      throw error;
    }),
  );
  const ends = await Promise.allSettled(senders);
  signal.throwIfAborted();
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return sent.toSorted((a, b) => a.PartNumber - b.PartNumber);
}

async function sendPart({ client, object, signal }: Target, UploadId: string, { number, bytes }: Part) {
  signal.throwIfAborted();
  const part = new UploadPartCommand({ ...object, UploadId, PartNumber: number, Body: bytes });
  const { ETag } = await client.send(part, { abortSignal: signal });
  return { PartNumber: number, ETag };
}

/** What could not be cleared away is never shown, and goes with the bucket's rule for unfinished uploads. */
async function clearAway({ client, object }: Target, UploadId: string): Promise<void> {
  const abort = new AbortMultipartUploadCommand({ ...object, UploadId });
  await client.send(abort, { abortSignal: AbortSignal.timeout(abortMillis) }).catch(() => undefined);
}

async function* withFirst(first: Part, rest: AsyncGenerator<Part, void, undefined>) {
  yield first;
  yield* rest;
}
