import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreFailure } from '../../src/objectstore/failures.ts';
import type { ObjectStore } from '../../src/objectstore/store.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { type Opening, openOn, type StoreServer } from '../support/store-servers.ts';

export async function* bytes(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** Bytes without repetition; their length is no multiple of any store's part size. */
export async function* large(mebibytes: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < mebibytes * 16; i++) yield Buffer.alloc(65_537, `${i} `);
}

const read = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => Buffer.concat(await Array.fromAsync(body));
const troubleOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (thrown: unknown) => (thrown instanceof StoreFailure ? thrown.trouble : thrown),
  );
const keysOf = async (store: ObjectStore, prefix: string): Promise<readonly string[]> =>
  (await Array.fromAsync(store.list(prefix))).map(({ key }) => key);

/** Tests that hold for every kind of store. */
export function testStoreContract(name: string, start: () => Promise<StoreServer>): void {
  describe(`${name}: an object`, () => {
    let server: StoreServer;
    let store: ObjectStore;
    beforeAll(async () => {
      server = await start();
      store = await openOn(server);
    });
    afterAll(async () => {
      store[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    });

    it('is read back with the same bytes, size and modification time', async () => {
      const began = Date.now();
      await store.put('some/thing here+now.db', bytes('hello ', 'world'));
      const { body, size, key, modified } = await store.get('some/thing here+now.db');
      expect((await read(body)).toString()).toBe('hello world');
      expect({ size, key }).toEqual({ size: 11, key: 'some/thing here+now.db' });
      expect(Math.abs(modified.getTime() - began)).toBeLessThan(60_000);
      expect(await store.head('some/thing here+now.db')).toMatchObject({ size: 11 });
    });

    it('can be large or empty', async () => {
      await store.put('large', large(40));
      const { body, size } = await store.get('large');
      const whole = await read(large(40));
      expect(size).toBe(whole.length);
      expect((await read(body)).equals(whole)).toBe(true);
      await store.put('empty', bytes());
      expect(await store.head('empty')).toMatchObject({ size: 0 });
    });

    it('is replaced by a second put', async () => {
      await store.put('replaced', bytes('old'));
      await store.put('replaced', bytes('new one'));
      expect((await read((await store.get('replaced')).body)).toString()).toBe('new one');
    });

    it('can be read in part', async () => {
      await store.put('left', large(20));
      for await (const part of (await store.get('left')).body) {
        expect(part.byteLength).toBeGreaterThan(0);
        break;
      }
      expect(await store.head('left')).toMatchObject({ key: 'left' });
    });

    it('is deleted; a second deletion succeeds', async () => {
      await store.put('short/lived', bytes('x'));
      await store.delete('short/lived');
      await store.delete('short/lived');
      expect(await troubleOf(store.head('short/lived'))).toBe('no-object');
    });

    it('that is missing is reported with its key, bucket and Secret', async () => {
      await expect(store.get('no/such')).rejects.toMatchObject({
        kind: 'not-found',
        trouble: 'no-object',
        message: expect.stringMatching(/"no\/such".*"backups"/),
      });
      if (name !== 'a volume') await expect(store.get('no/such')).rejects.toThrow(/Secret "store-secret"/);
    });

    it('does not exist if its writer fails half way', async () => {
      const broken = new Error('etcd went away');
      const half = async function* () {
        yield* large(40);
        throw broken;
      };
      await expect(store.put('half/large', half())).rejects.toBe(broken);
      const tiny = async function* () {
        yield Buffer.from('x');
        throw broken;
      };
      await expect(store.put('half/tiny', tiny())).rejects.toBe(broken);
      expect(await keysOf(store, 'half')).toEqual([]);
    });

    it('keeps its content if a put that replaces it is aborted', async () => {
      await store.put('kept', bytes('good'));
      const stop = new AbortController();
      const endless = async function* () {
        for (let i = 0; ; i++) {
          if (i === 20) stop.abort();
          yield Buffer.alloc(1 << 20);
        }
      };
      await expect(store.put('kept', endless(), stop.signal)).rejects.toMatchObject({ kind: 'unreachable' });
      expect((await read((await store.get('kept')).body)).toString()).toBe('good');
    });

    it('is listed by prefix in order, with more than 1000 others', async () => {
      const names = Array.from({ length: 1_005 }, (_, i) => `many/${String(i).padStart(5, '0')}`);
      for (let i = 0; i < names.length; i += 50)
        await Promise.all(names.slice(i, i + 50).map((key) => store.put(key, bytes('x'))));
      await store.put('manyfold', bytes('x'));
      expect(await keysOf(store, 'many/')).toEqual(names);
      expect(await keysOf(store, 'many/0100')).toEqual(names.slice(1_000));
      expect(await keysOf(store, 'nothing/like/this')).toEqual([]);
    });

    for (const key of ['', '/a', 'a/../b', 'a/', 'a/./b', 'a\nb', 'x'.repeat(1_025)])
      it(`is rejected under the key ${JSON.stringify(key.slice(0, 20))}`, async () => {
        await expect(store.put(key, bytes('x'))).rejects.toMatchObject({ kind: 'rejected' });
      });
  });
}

/** Tests that hold for every store behind a network. */
export function testServerFailures(name: string, start: () => Promise<StoreServer>): void {
  describe(`${name}: a request to the store`, () => {
    let server: StoreServer;
    let proxy: FaultProxy;
    beforeAll(async () => {
      server = await start();
      proxy = await startFaultProxy(server.port);
      using store = await openOn(server);
      await store.put('there', large(2));
    });
    afterAll(async () => {
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });

    const throughProxy = (opening: Opening = {}): Promise<ObjectStore> => {
      const endpoint = server.address.endpoint?.replace(`:${server.port}`, `:${proxy.port}`) ?? '';
      return openOn(server, { ...opening, address: { ...opening.address, endpoint } });
    };
    const during = async (fault: FaultProxy['fault'], opening: Opening = {}): Promise<ObjectStore> => {
      proxy.fault = fault;
      return throughProxy(opening);
    };

    it('answered with 403 fails as denied and names the credentials', async () => {
      using store = await during({ is: 'status', code: 403 });
      await expect(store.put('refused', large(20))).rejects.toMatchObject({ trouble: 'denied', kind: 'forbidden' });
      await expect(store.get('there')).rejects.toThrow(/key ".*" of Secret "store-secret"/);
      await expect(Array.fromAsync(store.list(''))).rejects.toMatchObject({ trouble: 'denied' });
    });

    it('answered with 500 or a reset fails as unreachable and leaves no object', async () => {
      for (const fault of [{ is: 'status', code: 500 }, { is: 'reset' }] as const) {
        using store = await during(fault);
        await expect(store.put('failed', large(20))).rejects.toMatchObject({ trouble: 'unreachable' });
        await expect(store.head('there')).rejects.toMatchObject({ trouble: 'unreachable' });
      }
      using direct = await openOn(server);
      expect(await keysOf(direct, 'failed')).toEqual([]);
    });

    it('without any answer fails after the idle time', async () => {
      using store = await during({ is: 'silent' }, { idleMillis: 1_000 });
      await expect(store.put('silent', large(20))).rejects.toThrow(/the store did not respond for 1 s/);
      await expect(store.get('there')).rejects.toMatchObject({ trouble: 'unreachable' });
    });

    it('answered with fewer bytes than announced fails as truncated', async () => {
      using store = await during({ is: 'cut-short' }, { idleMillis: 20_000 });
      proxy.appliesTo = (method, url) =>
        method === 'GET' && /there/.test(url) && !/\/o\/there(?!\?.*alt=media)/.test(url);
      const reading = (async () => read((await store.get('there')).body))();
      expect(await troubleOf(reading)).toBe('truncated');
      proxy.appliesTo = () => true;
    });

    it('whose bytes are stored wrongly fails as damaged, in one part or in many', async () => {
      using store = await during({ is: 'flip' });
      for (const mebibytes of [1, 20])
        expect(await troubleOf(store.put(`flipped-${mebibytes}`, large(mebibytes)))).toBe('damaged');
      proxy.fault = undefined;
      await store.put('flipped-1', large(1));
    });

    it('for an unknown bucket fails with the name of the bucket', async () => {
      using store = await openOn(server, { address: { bucket: 'elsewhere' } });
      await expect(store.put('a', bytes('x'))).rejects.toMatchObject({
        trouble: 'no-bucket',
        message: expect.stringContaining('"elsewhere"'),
      });
    });

    it('to a closed port fails with ECONNREFUSED', async () => {
      using store = await openOn(server, {
        address: { endpoint: (server.address.endpoint ?? '').replace(/:\d+/, ':1') },
      });
      await expect(store.head('there')).rejects.toMatchObject({
        trouble: 'unreachable',
        message: expect.stringContaining('ECONNREFUSED'),
      });
    });
  });
}
