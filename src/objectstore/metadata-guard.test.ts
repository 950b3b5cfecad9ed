import { once } from 'node:events';
import { get } from 'node:http';
import type { LookupFunction } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { guarded, isMetadataAddress } from './metadata-guard.ts';
import { openStore } from './open.ts';

const services = [
  ...['169.254.169.254', '169.254.170.2', '169.254.0.1', '100.100.100.200', '168.63.129.16'],
  ...['fe80::1', 'fe80::1%eth0', 'fd00:ec2::254', 'fd20:ce::254', '::ffff:169.254.169.254', '[::ffff:a9fe:a9fe]'],
];
const others = ['10.0.0.1', '127.0.0.1', '169.253.0.1', '::1', 'fd00::1', '2001:db8::1', 'example.com', ''];

it('addresses of metadata services are recognized in all notations', () => {
  expect(services.filter((address) => !isMetadataAddress(address))).toEqual([]);
  expect(others.filter(isMetadataAddress)).toEqual([]);
});

/** The answer of a guarded lookup for a name with these addresses. */
function lookedUp(host: string, addresses: readonly string[], all: boolean): Promise<unknown> {
  const found = addresses.map((address) => ({ address, family: 4 }));
  const answer = (_host: string, _options: object, callback: (...answer: unknown[]) => void) =>
    all ? callback(null, found) : callback(null, addresses[0], 4);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  guarded(answer as never)(host, { all }, (error, given) => resolve(error ?? given));
  return promise;
}

describe('a DNS name', () => {
  it.each([true, false])(
    'that resolves to a metadata service is refused at the lookup of its connection',
    async (all) => {
      const answer = await lookedUp('store.example.com', ['169.254.169.254'], all);
      expect(String(answer)).toContain(
        '"store.example.com" resolves to 169.254.169.254, a metadata service of the cloud',
      );
      expect(await lookedUp('store.example.com', ['10.0.0.1'], all)).not.toBeInstanceOf(Error);
    },
  );

  it('is refused if one of its addresses is a metadata service, unless it is a known name of one', async () => {
    expect(await lookedUp('store.example.com', ['10.0.0.1', 'fd00:ec2::254'], true)).toBeInstanceOf(Error);
    expect(await lookedUp('metadata.google.internal.', ['169.254.169.254'], false)).toBe('169.254.169.254');
  });
});

describe('a store', () => {
  it('is not dialled if its name resolves to a metadata service after it was opened', async () => {
    const { default: names } = await import('node:dns');
    const real = names.lookup;
    let address = '127.0.0.1';
    const changing = (_: string, options: { all?: boolean }, callback: (...answer: unknown[]) => void) =>
      options.all === true ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4);
    names.lookup = changing as never;
    vi.resetModules();
    const { openStore: open } = await import('./open.ts');
    try {
      const keys = new Map([
        ['AWS_ACCESS_KEY_ID', 'a'],
        ['AWS_SECRET_ACCESS_KEY', 'b'],
      ]);
      const credentials = { secret: 's', directory: '', keys } as never;
      const place = { kind: 's3', bucket: 'b', endpoint: 'http://store.example.com:9', pathStyle: true } as const;
      const store = await open(place, { credentials });
      address = '169.254.169.254';
      await expect(store.get('key')).rejects.toThrow('a metadata service of the cloud');
    } finally {
      names.lookup = real;
    }
  });

  it('with keys from a Secret does not follow a redirect to a metadata service', async () => {
    await openStore(
      { kind: 'gcs', bucket: 'b', endpoint: 'http://127.0.0.1:9' },
      { credentials: { secret: 's', directory: '', keys: new Map([['access-token', 't']]) } },
    );
    const lookup: LookupFunction = (_, { all }, callback) =>
      all === true ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);
    const redirected = get('http://metadata.google.internal:9/computeMetadata/v1/', { lookup });
    const [error] = (await once(redirected, 'error')) as [Error];
    expect(error.message).toContain('a metadata service of the cloud');
  });
});
