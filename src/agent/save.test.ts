import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { EtcdConnection } from '../etcd/client.ts';
import { StoreFailure } from '../objectstore/failures.ts';
import { GuardedStore } from '../objectstore/guarded-store.ts';
import type { ByteStream, OpenObject, StoreDriver } from '../objectstore/store.ts';
import { Progress } from './progress.ts';
import { type SaveSettings, save } from './save.ts';
import type { Source } from './source.ts';

const signal = new AbortController().signal;
const database = Buffer.alloc(4096, 'etcd');
const snapshot = Buffer.concat([database, createHash('sha256').update(database).digest()]);

async function* bytes(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

const source = {
  etcd: { snapshot: () => bytes(snapshot) } as unknown as EtcdConnection,
  status: { memberId: 1n, clusterId: 2n, revision: 7n, version: '3.6.16', dbSize: 4096n },
  warnings: [],
} as unknown as Source;

/** A store that changes objects with `keeps`, and confirms checksums or not. */
function bucketThat(
  keeps: (content: Buffer) => Buffer,
  isConfirming = false,
): {
  readonly objects: Map<string, Buffer>;
  store: GuardedStore;
} {
  const objects = new Map<string, Buffer>();
  const find = (key: string): Buffer => {
    const found = objects.get(key);
    if (found === undefined) throw new Error('NoSuchKey');
    return found;
  };
  const objectOf = (key: string) => ({ key, size: find(key).byteLength, modified: new Date(0) });
  const driver: StoreDriver = {
    place: 'bucket "b"',
    identity: 'i',
    put: async (key: string, body: ByteStream) => {
      objects.set(key, keeps(Buffer.concat(await Array.fromAsync(body))));
      return isConfirming;
    },
    get: async (key: string): Promise<OpenObject> => ({ ...objectOf(key), body: bytes(find(key)) }),
    head: async (key: string) => objectOf(key),
    list: () => bytes(snapshot) as never,
    delete: async (key: string) => void objects.delete(key),
    explain: (thrown) => ({ trouble: 'no-object', detail: String(thrown) }),
  };
  return { objects, store: new GuardedStore(driver) };
}

const flipped = (content: Buffer): Buffer => {
  const copy = Buffer.from(content);
  copy.writeUInt8(copy.readUInt8(20) ^ 1, 20);
  return copy;
};

const settingsFor = (more: Partial<SaveSettings> = {}): SaveSettings => ({
  address: { store: { kind: 's3', bucket: 'b' }, key: 'a.db' },
  dated: false,
  compression: 'none',
  about: {},
  ...more,
});

const saved = (store: GuardedStore, more: Partial<SaveSettings> = {}) =>
  save(settingsFor(more), { source, store, progress: new Progress(), now: new Date(0), signal });

describe('saving a snapshot', () => {
  it('to a store that keeps the bytes writes a manifest with the hash of the snapshot', async () => {
    const { objects, store } = bucketThat((content) => content);
    expect(await saved(store)).toMatchObject({ sha256: snapshot.subarray(-32).toString('hex'), size: snapshot.length });
    expect([...objects.keys()]).toEqual(['a.db', 'a.db.manifest.json']);
  });

  for (const compression of ['none', 'gzip'] as const)
    it(`to a store that flips a byte fails without a manifest, with compression ${compression}`, async () => {
      const { objects, store } = bucketThat(flipped);
      const failure: unknown = await saved(store, { compression }).catch((thrown: unknown) => thrown);
      expect(failure).toBeInstanceOf(StoreFailure);
      expect(failure).toMatchObject({ trouble: 'damaged' });
      expect([...objects.keys()]).toEqual(['a.db']);
    });

  it('with a dated key deletes the object if the store flips a byte: pruning would count it', async () => {
    const { objects, store } = bucketThat(flipped);
    await expect(saved(store, { dated: true })).rejects.toMatchObject({ trouble: 'damaged' });
    expect([...objects.keys()]).toEqual([]);
  });

  it('to a store that confirms a shorter object fails without a manifest', async () => {
    const { objects, store } = bucketThat((content) => content.subarray(1), true);
    await expect(saved(store)).rejects.toMatchObject({ trouble: 'damaged' });
    expect([...objects.keys()]).toEqual(['a.db']);
  });
});
