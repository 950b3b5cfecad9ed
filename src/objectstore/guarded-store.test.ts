import { expect, it } from 'vitest';
import { GuardedStore } from './guarded-store.ts';
import type { ByteStream, OpenObject, StoreDriver } from './store.ts';

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** A store that changes objects with `keeps`, and confirms checksums or not. */
function storeThat(
  keeps: (text: string) => string,
  isConfirming = false,
): { store: GuardedStore; reads: () => number } {
  const objects = new Map<string, string>();
  let reads = 0;
  const put = async (key: string, body: ByteStream): Promise<boolean> => {
    objects.set(key, keeps(Buffer.concat(await Array.fromAsync(body)).toString()));
    return isConfirming;
  };
  const get = async (key: string): Promise<OpenObject> => {
    reads++;
    const text = objects.get(key) ?? '';
    return { key, size: text.length, modified: new Date(0), body: bytes(text) };
  };
  const driver = { place: 'bucket "b"', identity: 'i', put, get } as unknown as StoreDriver;
  return { store: new GuardedStore(driver), reads: () => reads };
}

it('an object without a confirmed checksum is read back', async () => {
  const { store, reads } = storeThat((text) => text);
  await store.put('k', bytes('snapshot'));
  expect(reads()).toBe(1);
});

it('an object that is read back with a flipped or missing byte is damaged', async () => {
  for (const keeps of [(text: string) => text.replace('s', 'r'), (text: string) => text.slice(1)])
    await expect(storeThat(keeps).store.put('k', bytes('snapshot'))).rejects.toMatchObject({
      trouble: 'damaged',
      kind: 'unreachable',
      message: expect.stringMatching(
        /"k" in bucket "b": the store returns \d bytes with CRC-32 .* 8 bytes with CRC-32/,
      ),
    });
});

it('an object with a confirmed checksum is not read back', async () => {
  const { store, reads } = storeThat((text) => text, true);
  await store.put('k', bytes('snapshot'));
  expect(reads()).toBe(0);
});

it('a download that ends before the size of its object fails', async () => {
  const get = async (key: string): Promise<OpenObject> => ({
    ...{ key, size: 9, modified: new Date(0) },
    body: bytes('snapshot'),
  });
  const store = new GuardedStore({ place: 'bucket "b"', identity: 'i', get } as unknown as StoreDriver);
  const { body } = await store.get('k');
  const message = expect.stringContaining('only 8 of 9 bytes arrived');
  await expect(Array.fromAsync(body)).rejects.toMatchObject({ trouble: 'truncated', message });
});
