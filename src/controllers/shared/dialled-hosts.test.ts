import { once } from 'node:events';
import { Socket } from 'node:net';
import { DefaultAzureCredential } from '@azure/identity';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseObjectUrl } from '../../objectstore/address.ts';
import { openStore } from '../../objectstore/open.ts';
import { Failure } from '../../std/failure.ts';
import { type OperatorStore, storeRefusalOf } from './operator-store.ts';
import { storeAccess } from './store-access.ts';

const field = 'spec.destination.objectURLTemplate';
/** Allowed store URLs, each with the only host that it may dial. */
const allowed: Readonly<Record<string, string>> = {
  'azblob://backups/{{ .Namespace }}/?storage_account=corp': 'corp.blob.core.windows.net',
  's3://backups/{{ .Namespace }}/?region=eu-west-1': 'backups.s3.eu-west-1.amazonaws.com',
  's3://minio/{{ .Namespace }}/?endpoint=https://minio.example:9000&s3ForcePathStyle=true': 'minio.example',
  'gs://backups/{{ .Namespace }}/': 'storage.googleapis.com',
};
const operators: OperatorStore = {
  ...{ namespace: 'etcd-operator', secret: 'store', serviceAccountName: undefined, urls: Object.keys(allowed) },
};
const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', 'access-token': 'token' };

/** Returns the hosts that a store dials for an object, without connecting. */
async function hostsDialled(url: string): Promise<readonly string[]> {
  const hosts: string[] = [];
  const aborted = new AbortController();
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args: unknown[]) {
    const [first] = args.flat() as { readonly host?: string }[];
    hosts.push(String(first?.host));
    aborted.abort();
    setImmediate(() => this.destroy(new Error('this test makes no connection')));
    return this;
  });
  vi.spyOn(DefaultAzureCredential.prototype, 'getToken').mockResolvedValue({
    ...{ token: 'the-operators', expiresOnTimestamp: Date.now() + 3_600_000 },
  });
  const { store, key } = parseObjectUrl(url, '--url');
  const credentials = { secret: 'store', directory: '/nowhere', keys: new Map(Object.entries(keys)) };
  const access = store.kind === 'azblob' ? {} : { credentials };
  const asking = openStore(store, access).then((opened) => opened.head(key, aborted.signal));
  const dialling = once(aborted.signal, 'abort'); // some libraries retry for a while
  await Promise.race([asking.catch(() => undefined), dialling]);
  return hosts;
}

/** The URL for agents; undefined if the operator's credentials may not be used for it. */
function urlIfAllowed(url: string): string | undefined {
  try {
    if (storeRefusalOf({ url, field }, 'tenant', operators) !== undefined) return undefined;
    return storeAccess({ url, field }, 'to-write').args[1];
  } catch (thrown) {
    if (Failure.from(thrown).kind !== 'rejected') throw thrown;
    return undefined;
  }
}

const evil = [
  'evil.example',
  'localhost:9443/',
  'corp.evil.example#',
  '@evil.example',
  'corp',
  'eu-west-1',
  'x/../y',
  '%23',
  '\\',
];
const value = fc.array(fc.constantFrom(...evil, 'corp', 'eu-west-1', ''), { minLength: 1, maxLength: 2 });
const word = fc.constantFrom('storage_account', 'region', 'endpoint', 'profile', 's3ForcePathStyle', 'disableSSL');
const query = fc
  .array(fc.tuple(word, value), { maxLength: 2 })
  .map((pairs) => pairs.map(([name, parts]) => `${name}=${encodeURIComponent(parts.join(''))}`).join('&'));
const place = fc.constantFrom(...Object.keys(allowed));
const bucket = fc.constantFrom('', '.evil.example', '@evil.example', ':443', '%2f');

const urlOf = fc.tuple(place, bucket, query, fc.boolean()).map(([of, added, parameters, isKept]) => {
  const [, scheme = '', name = '', own = ''] = /^(\w+):\/\/([\w]+)[^?]*\??(.*)$/.exec(of) ?? [];
  const together = [isKept ? own : '', parameters].filter((each) => each !== '').join('&');
  return `${scheme}://${name}${added}/tenant/x.db${together === '' ? '' : `?${together}`}`;
});

describe("a store that is opened with the operator's credentials", () => {
  afterEach(() => vi.restoreAllMocks());

  it.each(Object.entries(allowed))('is allowed at %s and dials %s', async (of, host) => {
    const url = urlIfAllowed(of.replace('{{ .Namespace }}/', 'tenant/x.db'));
    expect(new Set(await hostsDialled(url ?? ''))).toEqual(new Set([host]));
  });

  it('dials only the hosts of --store-urls, for any URL', async () => {
    const hosts = new Set(Object.values(allowed));
    await fc.assert(
      fc.asyncProperty(urlOf, async (written) => {
        const url = urlIfAllowed(written);
        const dialled = url === undefined ? [] : await hostsDialled(url);
        expect(dialled.filter((host) => !hosts.has(host))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});
