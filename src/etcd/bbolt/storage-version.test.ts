import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Failure } from '../../std/failure.ts';
import { valueIn } from './bbolt.ts';
import type { ReadingOptions } from './meta.ts';
import { storageVersionIn } from './storage-version.ts';

const fixture = (name: string): Buffer =>
  gunzipSync(readFileSync(join(import.meta.dirname, '../fixtures', `${name}.db.gz`)));

const place = mkdtempSync(join(tmpdir(), 'databases-'));
afterAll(() => rmSync(place, { recursive: true }));

function versionOf(content: Buffer): Promise<string | undefined> {
  const file = join(place, 'a.db');
  writeFileSync(file, content);
  return storageVersionIn(file);
}

/** Reads the version from a buffer; returns the version or the error message, and the number of bytes read. */
async function found(content: Buffer): Promise<{ readonly result: string; readonly read: number }> {
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
  return { result: String(value), read };
}

const pageSize = 4096;
const changed = (content: Buffer, change: (copy: Buffer) => void): Buffer => {
  const copy = Buffer.from(content);
  change(copy);
  return copy;
};

/** A copy with changed fields in one meta page and a matching checksum. */
const withMeta = (
  content: Buffer,
  page: 0 | 1,
  { root, transaction }: { root: bigint; transaction?: bigint },
): Buffer =>
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

/** The same database in big-endian byte order. */
const bigEndian = (content: Buffer): Buffer =>
  changed(content, (copy) => {
    for (let at = 0; at + pageSize <= copy.byteLength; at += pageSize) swapPage(copy.subarray(at, at + pageSize));
  });

function swapPage(page: Buffer): void {
  const [kind, count] = [page.readUInt16LE(8), page.readUInt16LE(10)];
  const meta = page.subarray(16, 80);
  if (kind === 2) for (let element = 0; element < count; element++) swapElement(page.subarray(16 + element * 16));
  if (kind === 4) {
    meta.subarray(0, 16).swap32();
    meta.subarray(16).swap64();
    meta.writeBigUInt64BE(checksum(meta), 56);
  }
  page.subarray(0, 8).swap64();
  page.subarray(8, 12).swap16();
  page.subarray(12, 16).swap32();
}

function swapElement(element: Buffer): void {
  const value = element.readUInt32LE(4) + element.readUInt32LE(8);
  if (element.readUInt32LE(0) === 1) element.subarray(value, value + 16).swap64();
  element.subarray(0, 16).swap32();
}
const branches = fixture('branches');
const withRoot = (root: bigint): Buffer => withMeta(withMeta(branches, 0, { root }), 1, { root });
const rootOf = (content: Buffer): number => Number(content.readBigUInt64LE(32)) * pageSize;

describe('the storage version of a snapshot', () => {
  it.each([
    ['of etcd 3.5, which stores none', 'etcd-3.5.35', undefined],
    ['of etcd 3.6', 'etcd-3.6.16', '3.6.0'],
    ['of etcd 3.7', 'etcd-3.7.3', '3.7.0'],
    ['with a bucket on a page of its own', 'bucket-with-a-page', '3.7.0'],
    ['with branch pages', 'branches', '3.7.0'],
    ['of a machine with larger pages', 'large-pages', '3.7.0'],
  ])('is read from a snapshot %s', async (_title, name, version) => {
    expect(await versionOf(fixture(name))).toBe(version);
  });

  it('is found if one meta page is damaged, with few reads', async () => {
    for (const at of [16, pageSize + 16, 40, pageSize + 40]) {
      const half = changed(branches, (copy) => void (copy[at] = copy.readUInt8(at) ^ 1));
      const { result, read } = await found(half);
      expect(result).toBe('3.7.0');
      expect(read).toBeLessThan(10 * pageSize);
    }
  });

  it('is found in either byte order', async () => {
    expect((await found(bigEndian(fixture('bucket-with-a-page')))).result).toBe('3.7.0');
  });

  it('is read by the newer meta page', async () => {
    const [nowhere, here] = [2n ** 63n, BigInt(rootOf(branches) / pageSize)];
    expect((await found(withMeta(branches, 1, { root: nowhere }))).result).toBe('3.7.0');
    const newer = withMeta(branches, 1, { root: here, transaction: 1000n });
    expect((await found(withMeta(newer, 0, { root: nowhere }))).result).toBe('3.7.0');
    expect((await found(withMeta(branches, 1, { root: nowhere, transaction: 1000n }))).result).toContain(
      'beyond the end of the file',
    );
  });

  it('is undefined if its value is empty, and unreadable if its value is not a version', async () => {
    const content = fixture('etcd-3.6.16');
    const lengths = content.lastIndexOf(Buffer.from([14, 0, 0, 0, 5, 0, 0, 0])); // the lengths of name and value
    expect(await versionOf(changed(content, (copy) => void copy.writeUInt32LE(0, lengths + 4)))).toBeUndefined();
    const value = content.lastIndexOf('storageVersion3.6.0') + 'storageVersion'.length;
    for (const text of ['3.6.x', '../..', '99999'])
      await expect(versionOf(changed(content, (copy) => void copy.write(text, value)))).rejects.toThrow(
        'is not a version',
      );
  });

  it.each<[string, Buffer, string]>([
    ['nothing', Buffer.alloc(0), 'neither of its meta pages'],
    ['zeros', Buffer.alloc(3 * pageSize), 'neither of its meta pages'],
    ['only the first pages', fixture('etcd-3.7.3').subarray(0, 2 * pageSize), 'beyond the end of the file'],
    ['a root page beyond the file', withRoot(2n ** 63n), 'beyond the end of the file'],
    ['a meta page as the root', withRoot(0n), 'neither branch nor leaf'],
    [
      'an empty root page',
      changed(branches, (copy) => copy.fill(0, rootOf(copy), rootOf(copy) + 16)),
      'has the wrong ID',
    ],
  ])('is unreadable if the file has %s', async (_title, content, message) => {
    await expect(versionOf(content)).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining(message),
    });
  });

  it('is not searched in a cyclic tree or in an endless page', async () => {
    const content = branches;
    const root = rootOf(content);
    const circle = changed(content, (copy) => {
      for (let element = 0; element < copy.readUInt16LE(root + 10); element++)
        copy.writeBigUInt64LE(BigInt(root / pageSize), root + 16 + element * 16 + 8);
    });
    await expect(versionOf(circle)).rejects.toThrow('its tree is too deep');
    const endless = changed(content, (copy) => void copy.writeUInt32LE(0xffffffff, root + 12));
    await expect(versionOf(endless)).rejects.toThrow('a page is too long');
  });

  it('is not searched beyond the end of a page, whatever its element count', async () => {
    const content = fixture('etcd-3.6.16');
    const crowded = changed(content, (copy) => {
      copy.writeUInt16LE(0xffff, rootOf(copy) + 10);
      copy.write('atem', copy.indexOf('meta', rootOf(copy))); // so that the search does not end early
    });
    await expect(versionOf(crowded)).rejects.toThrow('reaches beyond its page');
    const lengths = content.lastIndexOf(Buffer.from([14, 0, 0, 0, 5, 0, 0, 0]));
    for (const at of [lengths, lengths + 4]) {
      const long = changed(content, (copy) => void copy.writeUInt32LE(0xffffffff, at));
      await expect(versionOf(long)).rejects.toThrow('reaches beyond its page');
    }
  });

  it('is found, undefined or unreadable, whatever bytes are damaged', async () => {
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
        const damaged = changed(content, (copy) => {
          for (const [at, bytes] of spots) copy.set(bytes, near(tree, at, copy.byteLength - bytes.byteLength));
        });
        const { read } = await found(cut % 4 === 0 ? damaged.subarray(0, cut % damaged.byteLength) : damaged);
        expect(read).toBeLessThan(2 * content.byteLength + 20 * pageSize);
      }),
      { numRuns: 2000 },
    );
  });
});

/** Prefers offsets in the pages that are read. */
const near = (tree: number, at: number, end: number): number =>
  (at % 3 === 0 ? at % end : tree + (at % pageSize)) % end;
