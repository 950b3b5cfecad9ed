import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreFailure } from '../../src/storage/failures.ts';
import type { ObjectStore } from '../../src/storage/store.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { type Opening, openOn, type StoreServer } from '../support/store-servers.ts';

export async function* bytes(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** Of a length that no part of any store divides, and different everywhere. */
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

/** What every store keeps to, whoever made it. */
export function keepsTheStoreContract(name: string, start: () => Promise<StoreServer>): void {
  describe(`${name}: what is stored`, () => {
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

    it('comes back as it was given, with size and time', async () => {
      const began = Date.now();
      await store.put('some/thing here+now.db', bytes('hello ', 'world'));
      const { body, size, key, modified } = await store.get('some/thing here+now.db');
      expect((await read(body)).toString()).toBe('hello world');
      expect({ size, key }).toEqual({ size: 11, key: 'some/thing here+now.db' });
      expect(Math.abs(modified.getTime() - began)).toBeLessThan(60_000);
      expect(await store.head('some/thing here+now.db')).toMatchObject({ size: 11 });
    });

    it('comes back when it is large, and when it is empty', async () => {
      await store.put('large', large(40));
      const { body, size } = await store.get('large');
      const whole = await read(large(40));
      expect(size).toBe(whole.length);
      expect((await read(body)).equals(whole)).toBe(true);
      await store.put('empty', bytes());
      expect(await store.head('empty')).toMatchObject({ size: 0 });
    });

    it('is replaced as a whole', async () => {
      await store.put('replaced', bytes('old'));
      await store.put('replaced', bytes('new one'));
      expect((await read((await store.get('replaced')).body)).toString()).toBe('new one');
    });

    it('may be left before its end', async () => {
      await store.put('left', large(20));
      for await (const part of (await store.get('left')).body) {
        expect(part.byteLength).toBeGreaterThan(0);
        break;
      }
      expect(await store.head('left')).toMatchObject({ key: 'left' });
    });

    it('is deleted, and deleting it again does no harm', async () => {
      await store.put('short/lived', bytes('x'));
      await store.delete('short/lived');
      await store.delete('short/lived');
      expect(await troubleOf(store.head('short/lived'))).toBe('no-object');
    });

    it('is said not to be there when it is not, with key, place and Secret', async () => {
      await expect(store.get('no/such')).rejects.toMatchObject({
        kind: 'not-found',
        trouble: 'no-object',
        message: expect.stringMatching(/"no\/such".*"backups"/),
      });
      if (name !== 'a volume') await expect(store.get('no/such')).rejects.toThrow(/Secret "store-secret"/);
    });

    it('is not there at all when its writer fails half way', async () => {
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

    it('keeps what was there when the writer of another fails, or is called off', async () => {
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

    it('is listed by prefix, more than a thousand of it, in order', async () => {
      const names = Array.from({ length: 1_005 }, (_, i) => `many/${String(i).padStart(5, '0')}`);
      for (let i = 0; i < names.length; i += 50)
        await Promise.all(names.slice(i, i + 50).map((key) => store.put(key, bytes('x'))));
      await store.put('manyfold', bytes('x'));
      expect(await keysOf(store, 'many/')).toEqual(names);
      expect(await keysOf(store, 'many/0100')).toEqual(names.slice(1_000));
      expect(await keysOf(store, 'nothing/like/this')).toEqual([]);
    });

    for (const key of ['', '/a', 'a/../b', 'a/', 'a/./b', 'a\nb', 'x'.repeat(1_025)])
      it(`is not taken under the key ${JSON.stringify(key.slice(0, 20))}`, async () => {
        await expect(store.put(key, bytes('x'))).rejects.toMatchObject({ kind: 'rejected' });
      });
  });
}

/** What every store that is spoken to over a network keeps to as well. */
export function survivesItsServer(name: string, start: () => Promise<StoreServer>): void {
  describe(`${name}: when its server`, () => {
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

    it('refuses with 403, the credentials are named', async () => {
      using store = await during({ is: 'status', code: 403 });
      await expect(store.put('refused', large(20))).rejects.toMatchObject({ trouble: 'denied', kind: 'forbidden' });
      await expect(store.get('there')).rejects.toThrow(/key ".*" of Secret "store-secret"/);
      await expect(Array.fromAsync(store.list(''))).rejects.toMatchObject({ trouble: 'denied' });
    });

    it('fails with 500 or hangs up, it is out of reach, and nothing is left', async () => {
      for (const fault of [{ is: 'status', code: 500 }, { is: 'reset' }] as const) {
        using store = await during(fault);
        await expect(store.put('failed', large(20))).rejects.toMatchObject({ trouble: 'unreachable' });
        await expect(store.head('there')).rejects.toMatchObject({ trouble: 'unreachable' });
      }
      using direct = await openOn(server);
      expect(await keysOf(direct, 'failed')).toEqual([]);
    });

    it('falls silent, that is noticed', async () => {
      using store = await during({ is: 'silent' }, { idleMillis: 1_000 });
      await expect(store.put('silent', large(20))).rejects.toThrow(/no sign of life for 1 s/);
      await expect(store.get('there')).rejects.toMatchObject({ trouble: 'unreachable' });
    });

    it('sends less than it promised, that is noticed', async () => {
      using store = await during({ is: 'cut-short' }, { idleMillis: 20_000 });
      proxy.concerns = (method, url) =>
        method === 'GET' && /there/.test(url) && !/\/o\/there(?!\?.*alt=media)/.test(url);
      const reading = (async () => read((await store.get('there')).body))();
      expect(await troubleOf(reading)).toBe('truncated');
      proxy.concerns = () => true;
    });

    it('keeps other bytes than were sent, that is noticed, in one part or in many', async () => {
      using store = await during({ is: 'flip' });
      for (const mebibytes of [1, 20])
        expect(await troubleOf(store.put(`flipped-${mebibytes}`, large(mebibytes)))).toBe('damaged');
      proxy.fault = undefined;
      await store.put('flipped-1', large(1));
    });

    it('does not know the bucket, that is said', async () => {
      using store = await openOn(server, { address: { bucket: 'elsewhere' } });
      await expect(store.put('a', bytes('x'))).rejects.toMatchObject({
        trouble: 'no-bucket',
        message: expect.stringContaining('"elsewhere"'),
      });
    });

    it('is not there, that is said', async () => {
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
