import { Fields, unreadable } from './fields.ts';
import { bytesAt, type Database, databaseIn, headerLength, type PagedFile } from './meta.ts';

export interface KeyPath {
  readonly bucket: string;
  readonly key: string;
}

/**
 * Reads one value of etcd's bbolt database file (ADR 27). The file may be damaged or malicious: each number is checked
 * before use, at most one page is in memory, and the depth is bounded. Errors are thrown as a Failure.
 */
export async function valueIn(file: PagedFile, { bucket, key }: KeyPath): Promise<Buffer | undefined> {
  const database = await databaseIn(file);
  const found = await itemIn(await pageAt(database.root, database), bucket, database);
  if (found === undefined) return undefined;
  if (!found.isBucket) throw unreadable(`"${bucket}" is not a bucket`);
  const item = await itemIn(await firstPageOf(found.value, database), key, database);
  return item === undefined || item.isBucket ? undefined : item.value.bytes;
}

interface Item {
  readonly isBucket: boolean;
  readonly value: Fields;
}

/** The deepest tree that is searched. Deeper trees exceed any volume. */
const mostLevels = 16;

/** The item of that name in the tree below a page. */
async function itemIn(top: Fields, name: string, database: Database): Promise<Item | undefined> {
  const sought = Buffer.from(name);
  let page = top;
  for (let level = 0; level < mostLevels; level++) {
    const kind = page.u16(kindAt);
    if (kind === leaf) return itemOn(page, sought);
    if (kind !== branch) throw unreadable('a page is neither branch nor leaf');
    page = await pageAt(childOf(page, sought), database);
  }
  throw unreadable('its tree is too deep');
}

const [idAt, kindAt, countAt, overflowAt] = [0, 8, 10, 12];
const [branch, leaf] = [1, 2];
const elementLength = 16;

/** The elements of a page. Each element points to its key and value by an offset from itself. */
function* elementsOf(page: Fields): Generator<Fields> {
  const count = page.u16(countAt);
  for (let at = headerLength; at < headerLength + count * elementLength; at += elementLength) yield page.slice(at);
}

/** The child page for a name. Names are sorted; each child is listed by its first name. */
function childOf(page: Fields, sought: Buffer): bigint {
  let child: bigint | undefined;
  for (const element of elementsOf(page)) {
    const name = element.slice(element.u32(0), element.u32(4)).bytes;
    if (child !== undefined && Buffer.compare(name, sought) > 0) break;
    child = element.u64(8);
  }
  if (child === undefined) throw unreadable('a branch is empty');
  return child;
}

function itemOn(page: Fields, sought: Buffer): Item | undefined {
  for (const element of elementsOf(page)) {
    const [flags, at, nameLength, valueLength] = [0, 4, 8, 12].map((field) => element.u32(field)) as Four;
    if (!element.slice(at, nameLength).bytes.equals(sought)) continue;
    return { isBucket: (flags & 1) === 1, value: element.slice(at + nameLength, valueLength) };
  }
  return undefined;
}

type Four = [number, number, number, number];

const bucketLength = 16;

/** The first page of a bucket. A small bucket is stored inline in its value. */
const firstPageOf = async (bucket: Fields, database: Database): Promise<Fields> => {
  const root = bucket.u64(0);
  return root === 0n ? bucket.slice(bucketLength) : pageAt(root, database);
};

/** The longest page with its overflow. Pages with bucket names and metadata are short. */
const longestPage = 1024 * 1024;

async function pageAt(id: bigint, { file, pageSize, isLittleEndian }: Database): Promise<Fields> {
  const { size } = await file.stat();
  if (id >= BigInt(Math.floor(size / pageSize))) throw unreadable('a page is beyond the end of the file');
  const at = Number(id) * pageSize;
  const header = new Fields(await bytesAt(file, at, headerLength), isLittleEndian);
  if (header.u64(idAt) !== id) throw unreadable('a page has the wrong ID');
  const length = (header.u32(overflowAt) + 1) * pageSize;
  if (length > longestPage || at + length > size) throw unreadable('a page is too long');
  return new Fields(await bytesAt(file, at, length), isLittleEndian);
}
