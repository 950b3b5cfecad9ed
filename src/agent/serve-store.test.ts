import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../../test/support/free-ports.ts';
import type { ObjectAddress } from '../objectstore/address.ts';
import { GuardedStore } from '../objectstore/guarded-store.ts';
import { openStore } from '../objectstore/open.ts';
import type { ObjectStore } from '../objectstore/store.ts';
import { storeProxyDriver } from '../objectstore/store-proxy/store-proxy-client.ts';
import { storeProxyFiles, storeProxyName } from '../objectstore/store-proxy/store-proxy-files.ts';
import { makeAuthority } from '../std/pki.ts';
import { serveStore } from './serve-store.ts';

const directory = mkdtempSync(join(tmpdir(), 'store-proxy-'));
const volume = join(directory, 'volume');
const [identity, access] = [join(directory, 'identity'), join(directory, 'access')];
const address: ObjectAddress = { store: { kind: 'file', bucket: 'backups' }, key: 'dir/a key+ä%.db' };
const content = Buffer.alloc(24 * 1024 * 1024, 'some bytes that are not all the same, ');

const write = (where: string, files: Readonly<Record<string, string>>): void => {
  mkdirSync(where, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(where, file), text);
};

/** Writes the Secrets that the operator creates for a store proxy. */
async function writeSecrets(): Promise<void> {
  const authority = await makeAuthority('test');
  const { certificate, key } = await authority.issue({ commonName: storeProxyName, dns: [storeProxyName] });
  const shared = { [storeProxyFiles.ca]: authority.certificate, [storeProxyFiles.token]: 'open sesame' };
  write(identity, { [storeProxyFiles.certificate]: certificate, [storeProxyFiles.key]: key, ...shared });
  write(access, shared);
}

/** Starts a store proxy; disposing it ends it. */
async function startProxy(): Promise<AsyncDisposable> {
  const [port = 0] = await freePorts(1);
  const store = await openStore(address.store, { volume });
  const end = new AbortController();
  const ended = serveStore({ address, identity, port }, { store, signal: end.signal });
  write(access, { [storeProxyFiles.address]: `127.0.0.1:${port}` });
  await reader().head(address.key); // returns once the proxy listens
  return {
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await ended;
      store[Symbol.dispose]();
    },
  };
}

const reader = (retryMillis = 20_000, from = access): ObjectStore =>
  new GuardedStore(storeProxyDriver(address.store, { directory: from, retryMillis }));
const all = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => Buffer.concat(await Array.fromAsync(body));

describe('a store proxy', () => {
  beforeAll(async () => {
    mkdirSync(join(volume, 'dir'), { recursive: true });
    writeFileSync(join(volume, address.key), content);
    writeFileSync(join(volume, `${address.key}.manifest.json`), '{"of": "it"}');
    writeFileSync(join(volume, 'another.db'), 'another object');
    await writeSecrets();
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('serves an object and its manifest with their sizes', async () => {
    await using _storeProxy = await startProxy();
    const { body, ...object } = await reader().get(address.key);
    expect(object).toMatchObject({ key: address.key, size: content.length, modified: expect.any(Date) });
    expect((await all(body)).equals(content)).toBe(true);
    expect(await reader().head(address.key)).toEqual(object);
    const manifest = await reader().get(`${address.key}.manifest.json`);
    expect((await all(manifest.body)).toString()).toBe('{"of": "it"}');
  });

  it('serves an object with a "/" before its key', async () => {
    const asked: string[] = [];
    const get = async (key: string) => {
      asked.push(key);
      return { key, size: 3, modified: new Date(), body: Readable.from([Buffer.from('yes')]) };
    };
    const [port = 0] = await freePorts(1);
    const end = new AbortController();
    const s3 = { address: { store: { kind: 's3', bucket: 'b' }, key: 'p/x.db' }, identity, port } as const;
    const ended = serveStore(s3, { store: { get } as unknown as ObjectStore, signal: end.signal });
    write(access, { [storeProxyFiles.address]: `127.0.0.1:${port}` });
    const { body } = await reader().get('/p/x.db');
    expect((await all(body)).toString()).toBe('yes');
    expect(asked).toEqual(['/p/x.db']);
    await expect(reader().get('/p/another.db')).rejects.toMatchObject({ trouble: 'denied' });
    end.abort();
    await ended;
  });

  it('serves no other object and refuses writes, with failures of a store', async () => {
    await using _storeProxy = await startProxy();
    const failure = { trouble: 'denied', kind: 'forbidden', message: expect.stringContaining("the operator's") };
    await expect(reader().get('another.db')).rejects.toMatchObject(failure);
    await expect(Array.fromAsync(reader().list(''))).rejects.toMatchObject(failure);
    await expect(reader().put(address.key, (async function* () {})())).rejects.toMatchObject(failure);
    await expect(reader().delete(address.key)).rejects.toMatchObject(failure);
  });

  it('passes failures of the store on', async () => {
    await using _storeProxy = await startProxy();
    rmSync(join(volume, `${address.key}.manifest.json`));
    await expect(reader().get(`${address.key}.manifest.json`)).rejects.toMatchObject({ trouble: 'no-object' });
    await expect(reader().head(`${address.key}.manifest.json`)).rejects.toMatchObject({ trouble: 'no-object' });
  });

  it('refuses clients with another token or another CA', async () => {
    await using _storeProxy = await startProxy();
    const files = readdirSync(access).map((file) => [file, readFileSync(join(access, file), 'utf8')]);
    const wrong = {
      [storeProxyFiles.token]: 'open wheat',
      [storeProxyFiles.ca]: (await makeAuthority('x')).certificate,
    };
    for (const [file, text] of Object.entries(wrong)) {
      write(join(directory, file), { ...Object.fromEntries(files), [file]: text });
      const failure = { trouble: 'unreachable', message: expect.stringMatching(/token|certificate/) };
      await expect(reader(1, join(directory, file)).get(address.key)).rejects.toMatchObject(failure);
    }
  });

  it('that is replaced during a read serves the rest from its new address', async () => {
    await using storeProxies = new AsyncDisposableStack();
    const first = await startProxy();
    const { body } = await reader().get(address.key);
    const parts: Uint8Array[] = [];
    for await (const part of body) {
      parts.push(part);
      if (parts.length !== 1) continue;
      await first[Symbol.asyncDispose]();
      await writeSecrets();
      storeProxies.use(await startProxy());
    }
    expect(Buffer.concat(parts).equals(content)).toBe(true);
  });
});
