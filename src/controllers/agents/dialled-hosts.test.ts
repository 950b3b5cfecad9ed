import { once } from 'node:events';
import { Socket } from 'node:net';
import { DefaultAzureCredential } from '@azure/identity';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Failure } from '../../std/failure.ts';
import { parseObjectUrl } from '../../storage/address.ts';
import { openStore } from '../../storage/open.ts';
import { type OperatorsStore, refusalOf } from './operators-store.ts';
import { storeAccess } from './store-access.ts';

const field = 'spec.destination.objectURLTemplate';
/** What an installer allows, and the only hosts that this can mean. */
const allowed: Readonly<Record<string, string>> = {
  'azblob://backups/{{ .Namespace }}/?storage_account=corp': 'corp.blob.core.windows.net',
  's3://backups/{{ .Namespace }}/?region=eu-west-1': 'backups.s3.eu-west-1.amazonaws.com',
  's3://minio/{{ .Namespace }}/?endpoint=https://minio.example:9000&s3ForcePathStyle=true': 'minio.example',
  'gs://backups/{{ .Namespace }}/': 'storage.googleapis.com',
};
const operators: OperatorsStore = {
  ...{ namespace: 'etcd-operator', secret: 'store', serviceAccountName: undefined, urls: Object.keys(allowed) },
};
const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', 'access-token': 'token' };

/** The hosts that a store dials when it is asked for an object. Nothing is connected. */
async function hostsDialled(url: string): Promise<readonly string[]> {
  const hosts: string[] = [];
  const aborted = new AbortController();
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...words: unknown[]) {
    const [first] = words.flat() as { readonly host?: string }[];
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
  const dialling = once(aborted.signal, 'abort'); // some libraries try again for a while before they give up
  await Promise.race([asking.catch(() => undefined), dialling]);
  return hosts;
}

/** The URL that agents are given, where the operator's credentials may be used for it. */
function urlIfAllowed(url: string): string | undefined {
  try {
    if (refusalOf({ url, field }, 'tenant', operators) !== undefined) return undefined;
    return storeAccess({ url, field }, 'to-write').words[1];
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

const urlOf = fc.tuple(place, bucket, query, fc.boolean()).map(([of, added, words, isKept]) => {
  const [, scheme = '', name = '', own = ''] = /^(\w+):\/\/([\w]+)[^?]*\??(.*)$/.exec(of) ?? [];
  const together = [isKept ? own : '', words].filter((each) => each !== '').join('&');
  return `${scheme}://${name}${added}/tenant/x.db${together === '' ? '' : `?${together}`}`;
});

describe("a store that is opened with the operator's credentials", () => {
  afterEach(() => vi.restoreAllMocks());

  it.each(Object.entries(allowed))('is allowed at %s and dials %s', async (of, host) => {
    const url = urlIfAllowed(of.replace('{{ .Namespace }}/', 'tenant/x.db'));
    expect(new Set(await hostsDialled(url ?? ''))).toEqual(new Set([host]));
  });

  it('dials no host but those that --store-urls means, whatever a URL says', async () => {
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
