import { describe, expect, it } from 'vitest';
import { checkUrls, type OperatorStore, readRefusal, storeRefusalOf } from './operator-store.ts';

const field = 'spec.destination.objectURLTemplate';
const given: OperatorStore = {
  ...{ namespace: 'etcd-operator', secret: 'store', serviceAccountName: undefined, urls: [] },
};
const refusal = (url: string, over: Partial<OperatorStore> = {}): string =>
  storeRefusalOf({ url, field }, 'tenant', { ...given, ...over }) ?? '';

describe("the use of the operator's store credentials", () => {
  it('is refused if the operator has none', () => {
    expect(refusal('s3://b/k', { secret: undefined })).toContain('the operator has none');
    expect(refusal('s3://b/k', { secret: undefined, serviceAccountName: 'saver' })).toBe('');
  });

  it('is allowed for every URL without --store-urls, as in the original', () => {
    expect(refusal('s3://b/k?endpoint=http://minio:9000&s3ForcePathStyle=true')).toBe('');
    expect(refusal('gs://b/k')).toBe('');
  });

  it('is refused for a custom endpoint if the provider sends its credentials there', () => {
    expect(refusal('gs://b/k?endpoint=http://evil')).toContain(`${field}: a URL with an endpoint`);
    expect(refusal('azblob://c/k?endpoint=http://evil')).toContain('needs credentials of this namespace');
  });

  it.each([
    ['s3://b', 's3://b/any/k', true],
    ['s3://b', 's3://bb/k', false],
    ['s3://b/{{ .Namespace }}/', 's3://b/tenant/k', true],
    ['s3://b/{{ .Namespace }}/', 's3://b/tenant2/k', false],
    ['s3://b/{{ .Namespace }}', 's3://b/tenant2/k', false],
    ['s3://b/{{ .Namespace }}', 's3://b/other/k', false],
    ['s3://b/x', 'gs://b/x/k', false],
    ['s3://b/x', 's3://b/x/k?endpoint=http://evil', false],
    ['s3://b/x?endpoint=http://minio:9000', 's3://b/x/k?endpoint=http://minio:9000', true],
    ['s3://b/x?endpoint=http://minio:9000', 's3://b/x/k?endpoint=http://minio:9000&s3ForcePathStyle=true', false],
    ['s3://b/x', 's3://b/x/k?profile=admin', false],
    ['s3://b/x', 's3://b/x/k?region=eu-west-1', false],
    ['s3://b/x?region=eu-west-1', 's3://b/x/k?region=eu-west-1', true],
    ['azblob://c/x?storage_account=corp', 'azblob://c/x/k?storage_account=other', false],
    ['azblob://c/x?storage_account=corp', 'azblob://c/x/k', false],
    ['azblob://c/x?storage_account=corp', 'azblob://c/x/k?storage_account=corp', true],
  ])('with --store-urls %s for object %s is allowed: %s', (url, object, isAllowed) => {
    expect(refusal(object, { urls: ['gs://elsewhere/', url] }) === '').toBe(isAllowed);
  });

  it('cannot be limited to an invalid URL', () => {
    expect(() => checkUrls(['bucket/x'])).toThrow('--store-urls');
    expect(() => checkUrls([''])).toThrow('--store-urls');
    expect(() => checkUrls(['s3://b', 'gs://b/{{ .Namespace }}/'])).not.toThrow();
  });
});

describe("a read with the operator's credentials", () => {
  const to = (namespace: string, urls: readonly string[]): string =>
    readRefusal({ url: 's3://b/tenant/k', field }, namespace, { ...given, urls }) ?? '';

  it('needs --store-urls, except in the namespace of the operator', () => {
    expect(to('tenant', [])).toContain('start the operator with --store-urls');
    expect(to('tenant', ['s3://b/{{ .Namespace }}/'])).toBe('');
    expect(to('another', ['s3://b/{{ .Namespace }}/'])).toContain('may be used');
    expect(to('etcd-operator', [])).toBe('');
  });
});
