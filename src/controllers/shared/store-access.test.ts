import { describe, expect, it } from 'vitest';
import { storeAccess } from './store-access.ts';

const field = 'spec.source.objectURL';
const urlIn = (url: string, use: 'to-read' | 'to-write'): string | undefined =>
  storeAccess({ url, field }, use).args[1];

describe('the URL of an object', () => {
  it('may have an extra "/" for reading, as in objects of the original operator', () => {
    expect(urlIn('s3://b//p/x.db?region=eu', 'to-read')).toBe('s3://b/p/x.db?region=eu');
    expect(urlIn('gs://b//x.db', 'to-read')).toBe('gs://b/x.db');
    expect(urlIn('s3://b/p//x.db', 'to-read')).toBe('s3://b/p//x.db');
    for (const url of ['s3://b///x.db', 'azblob://b//x.db', 's3:////x.db'])
      expect(() => urlIn(url, 'to-read'), url).toThrow(field);
  });

  it('may have no extra "/" for writing', () => {
    expect(() => urlIn('s3://b//p/x.db', 'to-write')).toThrow(/begins with "\/": remove it/);
  });
});

describe('an agent pod that opens a store', () => {
  it('has the label for Azure workload identity only for an Azure store without a Secret', () => {
    const labelsOf = (url: string, secret?: string) => storeAccess({ url, field, secret }, 'to-read').labels;
    expect(labelsOf('azblob://c/k?storage_account=acc')).toEqual({ 'azure.workload.identity/use': 'true' });
    expect(labelsOf('azblob://c/k', 'keys')).toEqual({});
    expect(labelsOf('s3://b/k')).toEqual({});
  });
});
