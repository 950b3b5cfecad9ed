import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPlainHttp, type ObjectAddress, parseObjectUrl, parsePath, type StoreKind, urlOf } from './address.ts';

const read = (url: string): ObjectAddress => parseObjectUrl(url, 'spec.destination.objectURLTemplate');

describe('the URL of an object', () => {
  const good: Record<string, ObjectAddress> = {
    's3://bucket/key': { store: { kind: 's3', bucket: 'bucket' }, key: 'key' },
    's3://b/a/b.db?region=eu-west-1': { store: { kind: 's3', bucket: 'b', region: 'eu-west-1' }, key: 'a/b.db' },
    's3://b/k?endpoint=http://minio:9000&disableSSL=true&s3ForcePathStyle=true&region=x': {
      store: { kind: 's3', bucket: 'b', endpoint: 'http://minio:9000', pathStyle: true, region: 'x' },
      key: 'k',
    },
    's3://b/k?endpoint=minio:9000&disableSSL=true': {
      store: { kind: 's3', bucket: 'b', endpoint: 'http://minio:9000' },
      key: 'k',
    },
    's3://b/k?endpoint=minio:9000&s3ForcePathStyle=false': {
      store: { kind: 's3', bucket: 'b', endpoint: 'https://minio:9000' },
      key: 'k',
    },
    'gs://b/k?access_id=x': { store: { kind: 'gcs', bucket: 'b' }, key: 'k' },
    'azblob://c/k?storage_account=acc': { store: { kind: 'azblob', bucket: 'c', account: 'acc' }, key: 'k' },
    'oss://b/k': { store: { kind: 'oss', bucket: 'b' }, key: 'k' },
    'file://my-claim/dir/k': { store: { kind: 'file', bucket: 'my-claim' }, key: 'dir/k' },
    's3://b/a%20b%3Fc': { store: { kind: 's3', bucket: 'b' }, key: 'a b?c' },
  };
  for (const [url, address] of Object.entries(good))
    it(`is parsed: ${url}`, () => {
      expect(read(url)).toEqual(address);
    });

  const bad: Record<string, RegExp> = {
    '': /is not the URL of an object: write it as s3:\/\/bucket\/key/,
    'bucket/key': /is not the URL/,
    'ftp://b/k': /"ftp" is not a kind of store: use one of s3, gs, azblob, oss, file/,
    's3://': /is not a valid bucket name/,
    's3:///key': /is not a valid bucket name/,
    's3://a..b/key': /is not a valid bucket name/,
    's3://bucket': /the key "" is empty/,
    's3://bucket/dir/': /ends with "\/"/,
    's3://bucket//key': /begins with "\/"/,
    's3://bucket/a/../b': /has a part "\." or "\.\."/,
    's3://bucket/a/%2e%2e/b': /has a part/,
    's3://bucket/%zz': /without a code: write it as %25/,
    's3://user:password@bucket/key': /contains credentials: move them into a Secret/,
    's3://b/k#x': /write it as %23/,
    's3://b/k?colour=red': /unknown parameter "colour": use region, endpoint/,
    'file://c/k?region=x': /unknown parameter "region": remove it/,
    's3://b/k?disableSSL=maybe': /disableSSL is "maybe": must be true or false/,
    's3://b/k?endpoint=ftp://x': /is neither http nor https/,
    's3://b/k?endpoint=http://user:pw@x': /"http:\/\/…@x" contains credentials/,
    's3://b/k?endpoint=http://169.254.169.254/latest': /metadata service/,
    's3://b/k?endpoint=http://[fe80::1]': /metadata service/,
    's3://b/k?endpoint=http://[::ffff:169.254.169.254]': /metadata service/,
    's3://b/k?endpoint=http://[fd00:ec2::254]': /metadata service/,
    'oss://b/k?endpoint=http://100.100.100.200': /metadata service/,
    'gs://b/k?endpoint=http://metadata.google.internal.': /metadata service/,
    's3://b/k?endpoint=http://2852039166': /metadata service/,
    'azblob://c/k?storage_account=localhost:9443/':
      /not a valid storage account of Azure: use 3 to 24 lowercase letters/,
    'azblob://c/k?storage_account=evil.example.com%23': /not a valid storage account/,
    'azblob://c/k?storage_account=ab': /not a valid storage account/,
    'azblob://c/k?storage_account=': /not a valid storage account/,
    's3://b/k?region=evil.example.com%23': /is not a valid region/,
  };
  for (const [url, problem] of Object.entries(bad))
    it(`is refused: ${url || '(empty)'}`, () => {
      expect(() => read(url)).toThrow(problem);
      expect(() => read(url)).toThrow(/^spec\.destination\.objectURLTemplate: /);
    });

  it('is formatted so that it parses to the same address', () => {
    const bucket = fc.stringMatching(/^[a-z0-9][a-z0-9-]{1,20}[a-z0-9]$/);
    const part = fc
      .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
      .filter((text) => !/[/\p{Cc}]|^\.+$/u.test(text));
    const key = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    const kind = fc.constantFrom<StoreKind>('s3', 'gcs', 'azblob', 'oss', 'file');
    fc.assert(
      fc.property(kind, bucket, key, (...[of, inBucket, called]) => {
        const extra = of === 's3' ? { endpoint: 'http://minio:9000', pathStyle: true as const, profile: 'a b' } : {};
        const address = { store: { kind: of, bucket: inBucket, ...extra }, key: called };
        expect(read(urlOf(address))).toEqual(address);
      }),
    );
  });

  it('fails only with a message that names its field', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          read(`s3://${text}`);
        } catch (error) {
          expect(error).toMatchObject({ kind: 'rejected', message: expect.stringMatching(/^spec\./) });
        }
      }),
    );
  });

  it('is plain HTTP if its endpoint is http://', () => {
    expect(isPlainHttp(read('s3://b/k?endpoint=http://x').store)).toBe(true);
    expect(isPlainHttp(read('s3://b/k').store)).toBe(false);
  });
});

describe('a path', () => {
  const store = { kind: 's3', endpoint: 'http://minio:9000', pathStyle: true } as const;
  it('is parsed into a bucket and a key', () => {
    expect(parsePath('bucket/dir/key', store, 'spec.s3.path')).toEqual({
      store: { ...store, bucket: 'bucket' },
      key: 'dir/key',
    });
    expect(parsePath('b/k', { kind: 's3', endpoint: '' }, 'spec.s3.path').store).toEqual({ kind: 's3', bucket: 'b' });
  });
  for (const path of ['', 'bucket', '/key', 'bucket/', 'a/../b', 'bucket//key', 'b/a/'])
    it(`is refused: "${path}"`, () => {
      expect(() => parsePath(path, store, 'spec.s3.path')).toThrow(/^spec\.s3\.path: /);
    });
});
