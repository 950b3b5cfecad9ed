import { hash, randomUUID } from 'node:crypto';
import type { BlockBlobClient } from '@azure/storage-blob';
import { inParts, type Part } from '../parts.ts';
import { sendParts } from '../send-parts.ts';
import type { ByteStream } from '../store.ts';

/** An upload needs memory for the blocks in flight, and for one more that is being filled. */
const blockSize = 8 * 1024 * 1024;
const blocksAtOnce = 3;

/** Sends a body of unknown length in blocks with their MD5. True if Azure answers every block with the same MD5. */
export async function uploadBlocks(blob: BlockBlobClient, body: ByteStream, signal: AbortSignal): Promise<boolean> {
  const upload = randomUUID(); // keeps blocks of parallel uploads of one blob apart
  const send = async ({ number, bytes }: Part, abortSignal: AbortSignal) => {
    const transactionalContentMD5 = hash('md5', bytes, 'buffer');
    const id = Buffer.from(upload + String(number).padStart(12, '0')).toString('base64');
    if (bytes.byteLength === 0) return { ids: [], isConfirmed: true };
    const options = { abortSignal, transactionalContentMD5 };
    const { contentMD5 } = await blob.stageBlock(id, bytes, bytes.byteLength, options);
    const isConfirmed = contentMD5 !== undefined && transactionalContentMD5.equals(contentMD5);
    return { ids: [id], isConfirmed };
  };
  const sent = await sendParts(inParts(body, blockSize), { atOnce: blocksAtOnce, signal, send });
  await blob.commitBlockList(
    sent.flatMap(({ ids }) => ids),
    { abortSignal: signal },
  );
  return sent.every(({ isConfirmed }) => isConfirmed);
}
