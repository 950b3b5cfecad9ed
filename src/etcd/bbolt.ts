import { Fields, unreadable } from './bbolt-fields.ts';
import { bytesAt, type Database, databaseIn, headerLength, type PagedFile } from './bbolt-meta.ts';

export interface Sought {
  readonly bucket: string;
  readonly key: string;
}

/**
 * One value of etcd's database file, which bbolt writes (ADR 27). The file may be damaged, or made to mislead: each number in it
 * is checked before it is used, no more than a page is held, and no way is followed for long. What is wrong is a Failure.
 */
export async function valueIn(file: PagedFile, { bucket, key }: Sought): Promise<Buffer | undefined> {
  const database = await databaseIn(file);
  const found = await itemIn(await pageAt(database.root, database), bucket, database);
  if (found === undefined) return undefined;
  if (!found.isBucket) throw unreadable(`"${bucket}" is no bucket in it`);
  const item = await itemIn(await firstPageOf(found.value, database), key, database);
  return item === undefined || item.isBucket ? undefined : item.value.bytes;
}

interface Item {
  readonly isBucket: boolean;
  readonly value: Fields;
}

/** Trees of so many levels would hold more than any disk. */
const mostLevels = 16;

/** What has that name in the tree under a page. */
async function itemIn(top: Fields, name: string, database: Database): Promise<Item | undefined> {
  const sought = Buffer.from(name);
  let page = top;
  for (let level = 0; level < mostLevels; level++) {
    const kind = page.u16(kindAt);
    if (kind === leaf) return itemOn(page, sought);
    if (kind !== branch) throw unreadable('a page is neither branch nor leaf');
    page = await pageAt(childOf(page, sought), database);
  }
  throw unreadable('its tree has no end');
}

const [idAt, kindAt, countAt, overflowAt] = [0, 8, 10, 12];
const [branch, leaf] = [1, 2];
const elementLength = 16;

/** A page has a table of elements, and after it what they point to, counted from where each of them is. */
function* elementsOf(page: Fields): Generator<Fields> {
  const count = page.u16(countAt);
  for (let at = headerLength; at < headerLength + count * elementLength; at += elementLength) yield page.slice(at);
}

/** Names are in order; a child is found under its first. */
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

/** A small bucket is within the value that stands for it. */
const firstPageOf = async (bucket: Fields, database: Database): Promise<Fields> => {
  const root = bucket.u64(0);
  return root === 0n ? bucket.slice(bucketLength) : pageAt(root, database);
};

/** Pages can be longer than one by what is on them; those on our way hold names and little more. */
const longestPage = 1024 * 1024;

async function pageAt(id: bigint, { file, pageSize, isLittleEndian }: Database): Promise<Fields> {
  const { size } = await file.stat();
  if (id >= BigInt(Math.floor(size / pageSize))) throw unreadable('a page is beyond its end');
  const at = Number(id) * pageSize;
  const header = new Fields(await bytesAt(file, at, headerLength), isLittleEndian);
  if (header.u64(idAt) !== id) throw unreadable('a page is not where it says');
  const length = (header.u32(overflowAt) + 1) * pageSize;
  if (length > longestPage || at + length > size) throw unreadable('a page is too long');
  return new Fields(await bytesAt(file, at, length), isLittleEndian);
}
