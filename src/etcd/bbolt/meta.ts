import { Fields, unreadable } from './fields.ts';

/** An open file with Node's interface. */
export interface PagedFile {
  stat(): Promise<{ readonly size: number }>;
  read(into: Buffer, where: ReadingOptions): Promise<{ readonly bytesRead: number }>;
}

export interface ReadingOptions {
  readonly offset: number;
  readonly length: number;
  readonly position: number;
}

/** The needed fields of the newer of the two meta pages. */
export interface Database {
  readonly file: PagedFile;
  readonly pageSize: number;
  readonly isLittleEndian: boolean;
  /** The page of the root bucket. */
  readonly root: bigint;
}

interface Meta extends Database {
  readonly transaction: bigint;
}

export async function databaseIn(file: PagedFile): Promise<Database> {
  const first = await metaAt(0, file);
  const places = first === undefined ? pageSizes : [first.pageSize];
  const others = await Promise.all(places.map((at) => metaAt(at, file)));
  const metas = [first, ...others].flatMap((meta) => meta ?? []);
  const [newest] = metas.toSorted((a, b) => (a.transaction < b.transaction ? 1 : -1));
  if (newest === undefined) throw unreadable('neither of its meta pages is valid');
  return newest;
}

/** The page sizes of all machines that run etcd, with a margin. */
const pageSizes: readonly number[] = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];

export const headerLength = 16;
const metaLength = 64;
const magic = 0xed0cdaed;
const format = 2;
const [formatAt, pageSizeAt, rootAt, transactionAt, checksumAt] = [4, 8, 16, 48, 56];

/** The meta page at an offset, if it is valid. The second meta page starts after one page. */
async function metaAt(at: number, file: PagedFile): Promise<Meta | undefined> {
  const bytes = await bytesAt(file, at + headerLength, metaLength);
  if (bytes.byteLength < metaLength) return undefined;
  const fields = [true, false].map((isLittle) => new Fields(bytes, isLittle)).find((each) => each.u32(0) === magic);
  if (fields?.u32(formatAt) !== format || fields.u64(checksumAt) !== checksum(bytes)) return undefined;
  const pageSize = fields.u32(pageSizeAt);
  if (!pageSizes.includes(pageSize) || (at !== 0 && at !== pageSize)) return undefined;
  const { isLittleEndian } = fields;
  return { file, pageSize, isLittleEndian, root: fields.u64(rootAt), transaction: fields.u64(transactionAt) };
}

/** FNV-1a of all bytes before the checksum. */
const checksum = (meta: Buffer): bigint =>
  meta
    .subarray(0, checksumAt)
    .reduce((hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n), 0xcbf29ce484222325n);

/** Reads `length` bytes, or fewer at the end of the file. */
export async function bytesAt(file: PagedFile, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, { offset: filled, length: length - filled, position: at + filled });
    filled += bytesRead;
    if (bytesRead === 0 || filled === length) return buffer.subarray(0, filled);
  }
}
