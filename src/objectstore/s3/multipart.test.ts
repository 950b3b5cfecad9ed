import { hash } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { upload } from './multipart.ts';

const { signal } = new AbortController();
const object = { Bucket: 'b', Key: 'k' };

async function* mebibytes(count: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) yield Buffer.alloc(1 << 20, `${i} `);
}

/** A server that answers with these ETags. */
const serverWith = (etagOf: (bytes: Buffer) => string): S3Client => {
  const send = async ({ input }: { readonly input: { readonly Body?: Buffer } }) =>
    input.Body === undefined ? { UploadId: 'u' } : { ETag: etagOf(input.Body) };
  return { send } as unknown as S3Client;
};

const uploaded = (count: number, etagOf: (bytes: Buffer) => string): Promise<boolean> =>
  upload({ client: serverWith(etagOf), object, signal }, mebibytes(count));

describe('an upload to S3', () => {
  for (const count of [1, 20]) {
    it(`of ${count} MiB is confirmed by ETags that are the MD5 of its parts, in any case and quoting`, async () => {
      expect(await uploaded(count, (bytes) => `"${hash('md5', bytes)}"`)).toBe(true);
      expect(await uploaded(count, (bytes) => hash('md5', bytes).toUpperCase())).toBe(true);
    });

    it(`of ${count} MiB is not confirmed if a byte has changed, or if ETags are not an MD5`, async () => {
      const flipped = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([1 ^ (bytes[0] ?? 0)]), bytes.subarray(1)]);
      expect(await uploaded(count, (bytes) => `"${hash('md5', flipped(bytes))}"`)).toBe(false);
      expect(await uploaded(count, () => '"of-a-kms-key"')).toBe(false);
    });
  }

  it('fails with the error of the failed part', async () => {
    const refused = new Error('no');
    const refuse = (): string => {
      throw refused;
    };
    await expect(uploaded(20, refuse)).rejects.toBe(refused);
  });

  it.each(['CreateMultipartUploadCommand', 'UploadPartCommand'])('closes its source if %s fails', async (fails) => {
    let isOpen = true;
    const source = async function* () {
      try {
        yield* mebibytes(100);
      } finally {
        isOpen = false;
      }
    };
    const send = async (command: object) => {
      if (command.constructor.name === fails) throw new Error('no');
      return { UploadId: 'u' };
    };
    const client = { send } as unknown as S3Client;
    await expect(upload({ client, object, signal }, source())).rejects.toThrow('no');
    expect(isOpen).toBe(false);
  });
});
