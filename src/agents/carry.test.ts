import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../../test/support/free-ports.ts';
import { makeAuthority } from '../std/pki.ts';
import type { ObjectAddress } from '../storage/address.ts';
import { courierFiles, courierName } from '../storage/courier/courier-pass.ts';
import { openCourier } from '../storage/courier/courier-store.ts';
import { GuardedStore } from '../storage/guarded-store.ts';
import { openStore } from '../storage/open.ts';
import type { ObjectStore } from '../storage/store.ts';
import { carry } from './carry.ts';

const directory = mkdtempSync(join(tmpdir(), 'courier-'));
const volume = join(directory, 'volume');
const [identity, pass] = [join(directory, 'identity'), join(directory, 'pass')];
const address: ObjectAddress = { store: { kind: 'file', bucket: 'backups' }, key: 'dir/a key+ä%.db' };
const content = Buffer.alloc(24 * 1024 * 1024, 'some bytes that are not all the same, ');

const write = (where: string, files: Readonly<Record<string, string>>): void => {
  mkdirSync(where, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(where, file), text);
};

/** What the operator does when it makes a courier. */
async function introduce(): Promise<void> {
  const authority = await makeAuthority('test');
  const { certificate, key } = await authority.issue({ commonName: courierName, dns: [courierName] });
  const shared = { [courierFiles.authority]: authority.certificate, [courierFiles.token]: 'open sesame' };
  write(identity, { [courierFiles.certificate]: certificate, [courierFiles.key]: key, ...shared });
  write(pass, shared);
}

/** A courier, and how to end it. */
async function stand(): Promise<AsyncDisposable> {
  const [port = 0] = await freePorts(1);
  const store = await openStore(address.store, { volume });
  const end = new AbortController();
  const ended = carry({ address, identity, port }, { store, signal: end.signal });
  write(pass, { [courierFiles.address]: `127.0.0.1:${port}` });
  await reader().head(address.key); // by then it listens
  return {
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await ended;
      store[Symbol.dispose]();
    },
  };
}

const reader = (patienceMillis = 20_000, of = pass): ObjectStore =>
  new GuardedStore(openCourier(address.store, { pass: of, patienceMillis }));
const all = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => Buffer.concat(await Array.fromAsync(body));

describe('a courier', () => {
  beforeAll(async () => {
    mkdirSync(join(volume, 'dir'), { recursive: true });
    writeFileSync(join(volume, address.key), content);
    writeFileSync(join(volume, `${address.key}.manifest.json`), '{"of": "it"}');
    writeFileSync(join(volume, 'another.db'), "somebody else's");
    await introduce();
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('lets an object and its manifest be read, and says how large they are', async () => {
    await using _courier = await stand();
    const { body, ...object } = await reader().get(address.key);
    expect(object).toMatchObject({ key: address.key, size: content.length, modified: expect.any(Date) });
    expect((await all(body)).equals(content)).toBe(true);
    expect(await reader().head(address.key)).toEqual(object);
    const manifest = await reader().get(`${address.key}.manifest.json`);
    expect((await all(manifest.body)).toString()).toBe('{"of": "it"}');
  });

  it('finds an object with a "/" before its key too, and its own address in spite of that', async () => {
    const asked: string[] = [];
    const get = async (key: string) => {
      asked.push(key);
      return { key, size: 3, modified: new Date(), body: Readable.from([Buffer.from('yes')]) };
    };
    const [port = 0] = await freePorts(1);
    const end = new AbortController();
    const s3 = { address: { store: { kind: 's3', bucket: 'b' }, key: 'p/x.db' }, identity, port } as const;
    const ended = carry(s3, { store: { get } as unknown as ObjectStore, signal: end.signal });
    write(pass, { [courierFiles.address]: `127.0.0.1:${port}` });
    const { body } = await reader().get('/p/x.db');
    expect((await all(body)).toString()).toBe('yes');
    expect(asked).toEqual(['/p/x.db']);
    await expect(reader().get('/p/another.db')).rejects.toMatchObject({ trouble: 'denied' });
    end.abort();
    await ended;
  });

  it('gives nothing else, changes nothing, and says that in the words of a store', async () => {
    await using _courier = await stand();
    const says = { trouble: 'denied', kind: 'forbidden', message: expect.stringContaining("the operator's") };
    await expect(reader().get('another.db')).rejects.toMatchObject(says);
    await expect(Array.fromAsync(reader().list(''))).rejects.toMatchObject(says);
    await expect(reader().put(address.key, (async function* () {})())).rejects.toMatchObject(says);
    await expect(reader().delete(address.key)).rejects.toMatchObject(says);
  });

  it('tells what the store says', async () => {
    await using _courier = await stand();
    rmSync(join(volume, `${address.key}.manifest.json`));
    await expect(reader().get(`${address.key}.manifest.json`)).rejects.toMatchObject({ trouble: 'no-object' });
    await expect(reader().head(`${address.key}.manifest.json`)).rejects.toMatchObject({ trouble: 'no-object' });
  });

  it('gives nothing to whoever has another token, or believes another authority', async () => {
    await using _courier = await stand();
    const known = readdirSync(pass).map((file) => [file, readFileSync(join(pass, file), 'utf8')]);
    const wrong = {
      [courierFiles.token]: 'open wheat',
      [courierFiles.authority]: (await makeAuthority('x')).certificate,
    };
    for (const [file, text] of Object.entries(wrong)) {
      write(join(directory, file), { ...Object.fromEntries(known), [file]: text });
      const says = { trouble: 'unreachable', message: expect.stringMatching(/token|certificate/) };
      await expect(reader(1, join(directory, file)).get(address.key)).rejects.toMatchObject(says);
    }
  });

  it('that goes while it is read from, and comes back elsewhere as another, brings the rest', async () => {
    await using couriers = new AsyncDisposableStack();
    const first = await stand();
    const { body } = await reader().get(address.key);
    const parts: Uint8Array[] = [];
    for await (const part of body) {
      parts.push(part);
      if (parts.length !== 1) continue;
      await first[Symbol.asyncDispose]();
      await introduce();
      couriers.use(await stand());
    }
    expect(Buffer.concat(parts).equals(content)).toBe(true);
  });
});
