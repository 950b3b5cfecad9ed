import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { Compression } from '../objectstore/manifest.ts';
import type { ByteStream } from '../objectstore/store.ts';

/** The lowest level is faster than the network and compresses nearly as well as higher levels. */
const gzipLevel = 1;
const chunkSize = 256 * 1024;

export function compressed(body: ByteStream, compression: Compression): ByteStream {
  if (compression === 'gzip') return through(body, createGzip({ level: gzipLevel, chunkSize }));
  if (compression === 'zstd') return through(body, createZstdCompress({ chunkSize }));
  return body;
}

/** Detects the compression from the first bytes of the object, not from its name or manifest. */
export async function decompressed(
  body: ByteStream,
): Promise<{ readonly compression: Compression; readonly body: ByteStream }> {
  const parts = body[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  for (let length = 0; length < 4; ) {
    const { done, value } = await parts.next();
    if (done === true) break;
    head.push(value);
    length += value.byteLength;
  }
  const compression = compressionOf(Buffer.concat(head));
  const all = rejoined(head, parts);
  if (compression === 'gzip') return { compression, body: through(all, createGunzip({ chunkSize })) };
  if (compression === 'zstd') return { compression, body: through(all, createZstdDecompress({ chunkSize })) };
  return { compression, body: all };
}

function compressionOf(start: Buffer): Compression {
  if (start.subarray(0, 2).equals(gzipMagic)) return 'gzip';
  return start.subarray(0, 4).equals(zstdMagic) ? 'zstd' : 'none';
}

const gzipMagic = Buffer.from('1f8b', 'hex');
const zstdMagic = Buffer.from('28b52ffd', 'hex');

async function* rejoined(head: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** Errors of the source and of the transform reach the reader of the result. */
const through = (body: ByteStream, transform: Transform): ByteStream =>
  pipeline(Readable.from(body, { objectMode: false }), transform, () => undefined) as ByteStream;
