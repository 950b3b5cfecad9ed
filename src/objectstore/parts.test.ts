import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { s3EndpointOf } from './oss/endpoint.ts';
import { inParts } from './parts.ts';

describe('a body split into parts', () => {
  it('is the same body, in parts of one size and a last part that may be smaller', async () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.integer({ min: 1, max: 50 }), async (all, size) => {
        const body = (async function* () {
          yield* all;
        })();
        const parts = await Array.fromAsync(inParts(body, size));
        expect(Buffer.concat(parts.map(({ bytes }) => bytes)).equals(Buffer.concat(all))).toBe(true);
        expect(parts.map(({ number, isLast }) => [number, isLast])).toEqual(
          parts.map((_, index) => [index + 1, index === parts.length - 1]),
        );
        for (const { bytes } of parts.slice(0, -1)) expect(bytes).toHaveLength(size);
      }),
    );
  });
});

describe('the S3 endpoint of OSS', () => {
  const endpoints: Record<string, [string | undefined, string, string]> = {
    'is in Hangzhou by default': [undefined, 'https://s3.oss-cn-hangzhou.aliyuncs.com', 'cn-hangzhou'],
    'is a subdomain of the public endpoint': [
      'http://oss-eu-central-1.aliyuncs.com',
      'http://s3.oss-eu-central-1.aliyuncs.com',
      'eu-central-1',
    ],
    'is a subdomain of the internal endpoint': [
      'https://oss-cn-beijing-internal.aliyuncs.com',
      'https://s3.oss-cn-beijing-internal.aliyuncs.com',
      'cn-beijing',
    ],
    'may be given directly': [
      'https://s3.oss-cn-beijing.aliyuncs.com',
      'https://s3.oss-cn-beijing.aliyuncs.com',
      'cn-beijing',
    ],
    'is unchanged for other domains': ['http://oss.test:9000', 'http://oss.test:9000', 'us-east-1'],
  };
  for (const [title, [given, endpoint, region]] of Object.entries(endpoints))
    it(title, () => {
      expect(s3EndpointOf(given)).toEqual({ endpoint, region });
    });
});
