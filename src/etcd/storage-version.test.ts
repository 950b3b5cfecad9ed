import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Failure } from '../std/failure.ts';
import { valueIn } from './bbolt.ts';
import type { ReadingOptions } from './bbolt-meta.ts';
import { storageVersionIn } from './storage-version.ts';

const fixture = (name: string): Buffer =>
  gunzipSync(readFileSync(join(import.meta.dirname, 'fixtures', `${name}.db.gz`)));

const place = mkdtempSync(join(tmpdir(), 'databases-'));
afterAll(() => rmSync(place, { recursive: true }));

function asked(content: Buffer): Promise<string | undefined> {
  const file = join(place, 'a.db');
  writeFileSync(file, content);
  return storageVersionIn(file);
}

/** What is found in memory in place of a file, and how many bytes were read for it. */
async function found(content: Buffer): Promise<{ readonly says: string; readonly read: number }> {
  let read = 0;
  const file = {
    stat: async () => ({ size: content.byteLength }),
    read: async (into: Buffer, { offset, length, position }: ReadingOptions) => {
      const bytesRead = content.subarray(position, position + length).copy(into, offset);
      read += bytesRead;
      return { bytesRead };
    },
  };
  const value = await valueIn(file, { bucket: 'meta', key: 'storageVersion' }).catch((thrown: unknown) => {
    if (thrown instanceof Failure && thrown.kind === 'rejected') return thrown.message;
    throw thrown;
  });
  return { says: String(value), read };
}

const pageSize = 4096;
const changed = (content: Buffer, change: (copy: Buffer) => void): Buffer => {
  const copy = Buffer.from(content);
  change(copy);
  return copy;
};

/** What one of the two meta pages is made to say, with a checksum that fits. */
const saying = (content: Buffer, page: 0 | 1, { root, transaction }: { root: bigint; transaction?: bigint }): Buffer =>
  changed(content, (copy) => {
    const meta = copy.subarray(page * pageSize + 16, page * pageSize + 80);
    meta.writeBigUInt64LE(root, 16);
    if (transaction !== undefined) meta.writeBigUInt64LE(transaction, 48);
    meta.writeBigUInt64LE(checksum(meta), 56);
  });
function checksum(meta: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of meta.subarray(0, 56)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

/** The same as a machine would have written it that puts the large end of numbers first. */
const turned = (content: Buffer): Buffer =>
  changed(content, (copy) => {
    for (let at = 0; at + pageSize <= copy.byteLength; at += pageSize) turnPage(copy.subarray(at, at + pageSize));
  });

function turnPage(page: Buffer): void {
  const [kind, count] = [page.readUInt16LE(8), page.readUInt16LE(10)];
  const meta = page.subarray(16, 80);
  if (kind === 2) for (let element = 0; element < count; element++) turnElement(page.subarray(16 + element * 16));
  if (kind === 4) {
    meta.subarray(0, 16).swap32();
    meta.subarray(16).swap64();
    meta.writeBigUInt64BE(checksum(meta), 56);
  }
  page.subarray(0, 8).swap64();
  page.subarray(8, 12).swap16();
  page.subarray(12, 16).swap32();
}

function turnElement(element: Buffer): void {
  const value = element.readUInt32LE(4) + element.readUInt32LE(8);
  if (element.readUInt32LE(0) === 1) element.subarray(value, value + 16).swap64();
  element.subarray(0, 16).swap32();
}
const branches = fixture('branches');
const withRoot = (root: bigint): Buffer => saying(saying(branches, 0, { root }), 1, { root });
const rootOf = (content: Buffer): number => Number(content.readBigUInt64LE(32)) * pageSize;

describe('the version that a snapshot says it needs', () => {
  it.each([
    ['of etcd 3.5, which says none', 'etcd-3.5.35', undefined],
    ['of etcd 3.6', 'etcd-3.6.16', '3.6.0'],
    ['of etcd 3.7', 'etcd-3.7.3', '3.7.0'],
    ['whose bucket is too large to be within another', 'bucket-with-a-page', '3.7.0'],
    ['with branches on the way to the bucket and within it', 'branches', '3.7.0'],
    ['of a machine with larger pages', 'large-pages', '3.7.0'],
  ])('is found in one %s', async (_title, name, version) => {
    expect(await asked(fixture(name))).toBe(version);
  });

  it('is found by either meta page, if the other is damaged, and without reading much', async () => {
    for (const at of [16, pageSize + 16, 40, pageSize + 40]) {
      const half = changed(branches, (copy) => void (copy[at] = copy.readUInt8(at) ^ 1));
      const { says, read } = await found(half);
      expect(says).toBe('3.7.0');
      expect(read).toBeLessThan(10 * pageSize);
    }
  });

  it('is found whichever end of numbers comes first', async () => {
    expect((await found(turned(fixture('bucket-with-a-page')))).says).toBe('3.7.0');
  });

  it('is that of the newer meta page', async () => {
    const [nowhere, here] = [2n ** 63n, BigInt(rootOf(branches) / pageSize)];
    expect((await found(saying(branches, 1, { root: nowhere }))).says).toBe('3.7.0');
    const newer = saying(branches, 1, { root: here, transaction: 1000n });
    expect((await found(saying(newer, 0, { root: nowhere }))).says).toBe('3.7.0');
    expect((await found(saying(branches, 1, { root: nowhere, transaction: 1000n }))).says).toContain('beyond its end');
  });

  it('is none where its value is empty, and unreadable where that is no version', async () => {
    const content = fixture('etcd-3.6.16');
    const lengths = content.lastIndexOf(Buffer.from([14, 0, 0, 0, 5, 0, 0, 0])); // of its name and its value
    expect(await asked(changed(content, (copy) => void copy.writeUInt32LE(0, lengths + 4)))).toBeUndefined();
    const value = content.lastIndexOf('storageVersion3.6.0') + 'storageVersion'.length;
    for (const text of ['3.6.x', '../..', '99999'])
      await expect(asked(changed(content, (copy) => void copy.write(text, value)))).rejects.toThrow('is no version');
  });

  it.each<[string, Buffer, string]>([
    ['nothing', Buffer.alloc(0), 'neither of its meta pages'],
    ['zeros', Buffer.alloc(3 * pageSize), 'neither of its meta pages'],
    ['only its beginning', fixture('etcd-3.7.3').subarray(0, 2 * pageSize), 'beyond its end'],
    ['a page that is far away', withRoot(2n ** 63n), 'beyond its end'],
    ['a meta page where its tree should be', withRoot(0n), 'neither branch nor leaf'],
    [
      'nothing on its first page',
      changed(branches, (copy) => copy.fill(0, rootOf(copy), rootOf(copy) + 16)),
      'is not where it says',
    ],
  ])('is told to be unreadable where there is %s', async (_title, content, says) => {
    await expect(asked(content)).rejects.toMatchObject({ kind: 'rejected', message: expect.stringContaining(says) });
  });

  it('is not looked for in a circle, nor in a page without end', async () => {
    const content = branches;
    const root = rootOf(content);
    const circle = changed(content, (copy) => {
      for (let element = 0; element < copy.readUInt16LE(root + 10); element++)
        copy.writeBigUInt64LE(BigInt(root / pageSize), root + 16 + element * 16 + 8);
    });
    await expect(asked(circle)).rejects.toThrow('its tree has no end');
    const endless = changed(content, (copy) => void copy.writeUInt32LE(0xffffffff, root + 12));
    await expect(asked(endless)).rejects.toThrow('a page is too long');
  });

  it('is not looked for beyond the end of a page, whatever that says it holds', async () => {
    const content = fixture('etcd-3.6.16');
    const crowded = changed(content, (copy) => {
      copy.writeUInt16LE(0xffff, rootOf(copy) + 10);
      copy.write('atem', copy.indexOf('meta', rootOf(copy))); // so that it is looked for on and on
    });
    await expect(asked(crowded)).rejects.toThrow('reaches beyond its page');
    const lengths = content.lastIndexOf(Buffer.from([14, 0, 0, 0, 5, 0, 0, 0]));
    for (const at of [lengths, lengths + 4]) {
      const long = changed(content, (copy) => void copy.writeUInt32LE(0xffffffff, at));
      await expect(asked(long)).rejects.toThrow('reaches beyond its page');
    }
  });

  it('is found, or not, or told to be unreadable, whatever bytes are damaged', async () => {
    const names = ['etcd-3.6.16', 'bucket-with-a-page', 'branches'] as const;
    const contents = Object.fromEntries(names.map((name) => [name, fixture(name)]));
    const damage = fc.array(fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 8 })), {
      minLength: 1,
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), damage, fc.nat(), async (name, spots, cut) => {
        const content = contents[name] ?? Buffer.alloc(0);
        const tree = rootOf(content);
        const hurt = changed(content, (copy) => {
          for (const [at, bytes] of spots) copy.set(bytes, near(tree, at, copy.byteLength - bytes.byteLength));
        });
        const { read } = await found(cut % 4 === 0 ? hurt.subarray(0, cut % hurt.byteLength) : hurt);
        expect(read).toBeLessThan(2 * content.byteLength + 20 * pageSize);
      }),
      { numRuns: 2000 },
    );
  });
});

/** Mostly where it matters: in the pages that are read. */
const near = (tree: number, at: number, end: number): number =>
  (at % 3 === 0 ? at % end : tree + (at % pageSize)) % end;
