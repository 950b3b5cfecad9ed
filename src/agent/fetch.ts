import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hashLength, TrailingHash } from '../etcd/bbolt/trailing-hash.ts';
import type { ObjectAddress } from '../objectstore/address.ts';
import type { Compression, SnapshotManifest } from '../objectstore/manifest.ts';
import type { ByteStream, ObjectStore } from '../objectstore/store.ts';
import { Failure } from '../std/failure.ts';
import { openOrSuggest } from './candidates.ts';
import { collectingEarly } from './collect-early.ts';
import { decompressed } from './compression.ts';
import { manifestBeside, manifestFacts, savedCluster, unknownVersion, wrongManifest } from './manifest-beside.ts';
import type { Progress } from './progress.ts';
import { AgentFailure } from './result.ts';
import { isVersionUnknown, refuseNewer, storageVersionOf, type WriterVersion } from './versions.ts';

export interface FetchSettings {
  readonly address: ObjectAddress;
  /** The file to write; without it, the object is only verified. */
  readonly to?: string | undefined;
  /** Directory of an earlier attempt, which is deleted first. */
  readonly clear?: string | undefined;
  /** Maximum size of the file: a small object may decompress to a large one. */
  readonly maxBytes: number;
  /** The etcd version that is to read the snapshot. */
  readonly targetVersion?: string | undefined;
  /** True if the result gets the cluster spec of the manifest, to create the cluster again. */
  readonly reportCluster?: boolean | undefined;
  /** True if the manifest must belong to this snapshot: the restore uses the cluster spec in it. */
  readonly requireManifest?: boolean | undefined;
}

export interface FetchParts {
  readonly store: ObjectStore;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Reads a stored snapshot to its end, verifies the hash that etcd appended, and writes the file if `to` is set. */
export async function fetchSnapshot(
  settings: FetchSettings,
  parts: FetchParts,
): Promise<Readonly<Record<string, unknown>>> {
  const { store, progress, signal } = parts;
  const { key } = settings.address;
  if (settings.clear !== undefined) await rm(settings.clear, { recursive: true, force: true });
  const warnings: string[] = [];
  const manifest = await manifestBeside(store, key, { signal, warnings });
  const object = await openOrSuggest(store, settings.address, signal);
  progress.enter(settings.to === undefined ? 'proving' : 'fetching', object.size);
  const opened = await decompressed(collectingEarly(progress.counting(object.body)));
  const check = new Proof(key, settings.maxBytes);
  const whole = check.proving(opened.body);
  await (settings.to === undefined ? readToEnd(whole) : writeVerified(whole, settings.to, signal));
  const facts = factsFor(check.sha256, manifest, warnings);
  const written = await writtenBy(facts, settings, warnings);
  if (settings.requireManifest === true && facts === undefined) throw missingManifest(key);
  const cluster = settings.reportCluster === true ? savedCluster(facts) : {};
  return {
    ...proven(object.size, opened.compression, check),
    ...manifestFacts(facts),
    ...written,
    ...cluster,
    warnings,
  };
}

/** The manifest, if its hash is that of the snapshot. */
function factsFor(
  sha256: string,
  manifest: SnapshotManifest | undefined,
  warnings: string[],
): SnapshotManifest | undefined {
  if (manifest?.snapshot.sha256 === sha256) return manifest;
  if (manifest !== undefined) warnings.push(wrongManifest(manifest));
  return undefined;
}

/** The etcd version that wrote the snapshot. Fails if the target is older. */
async function writtenBy(
  facts: SnapshotManifest | undefined,
  { to, targetVersion }: FetchSettings,
  warnings: string[],
): Promise<WriterVersion> {
  const written = { ...facts?.etcd, ...(await storageVersionOf(to, warnings)) };
  refuseNewer(written, targetVersion);
  if (isVersionUnknown(written)) warnings.push(unknownVersion);
  return written;
}

const missingManifest = (key: string): AgentFailure =>
  new AgentFailure('damaged', `the manifest of "${key}" belongs to another snapshot, so the cluster spec is unknown`);

const proven = (size: number, compression: Compression, { bytes, sha256 }: Proof): object => ({
  size,
  compression,
  plainSize: bytes,
  sha256,
});

/** Passes a snapshot on, and fails at its end if the hash does not match. */
class Proof {
  readonly #check = new TrailingHash();
  readonly #key: string;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(key: string, maxBytes: number) {
    this.#key = key;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get sha256(): string {
    return this.#check.written;
  }

  async *proving(body: ByteStream): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const part of readable(body, this.#key)) {
      this.#bytes += part.byteLength;
      if (this.#bytes > this.#maxBytes) throw this.#tooLarge();
      this.#check.update(part);
      yield part;
    }
    const problem = this.#problem();
    if (problem === undefined) return;
    throw new AgentFailure('damaged', `object "${this.#key}" is not a whole snapshot: ${problem}`);
  }

  #problem(): string | undefined {
    if (this.#bytes === 0) return 'it is empty';
    if (this.#bytes < hashLength) return `it has only ${this.#bytes} bytes`;
    if (this.#check.matches()) return undefined;
    if (this.#bytes % pageUnit === 0)
      return 'it has no hash at its end and seems to be a copy of a database file: use etcdctl snapshot save';
    return 'its content does not match the hash at its end, so bytes were lost or changed';
  }

  #tooLarge(): AgentFailure {
    const message = `object "${this.#key}" decompresses to more than the maximum of ${this.#maxBytes} bytes`;
    return new AgentFailure('too-large', message);
  }
}

/** Page sizes of database files are multiples of this. */
const pageUnit = 512;

/** Reports decompression errors as a damaged object. Failures of the store pass unchanged. */
async function* readable(body: ByteStream, key: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    const message = `object "${key}" is not a whole snapshot: it cannot be decompressed`;
    throw new AgentFailure('damaged', message, { cause: thrown });
  }
}

async function readToEnd(body: ByteStream): Promise<void> {
  for await (const _part of body);
}

/**
 * Writes a temporary file and renames it after verification. There is no fsync: the file is read at once, and after a
 * crash of the node it is fetched again.
 */
async function writeVerified(body: ByteStream, path: string, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${randomBytes(4).toString('hex')}.unfinished`;
  try {
    await writeFile(body, temporary, signal);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? await noSpace(path, error) : error;
  }
}

/** Bytes that may be buffered for the volume while more are received and hashed. */
const highWaterMark = 4 * 1024 * 1024;

/** Ends once the file is closed: a file that is still being opened would be created after its removal. */
async function writeFile(body: ByteStream, temporary: string, signal: AbortSignal): Promise<void> {
  const file = createWriteStream(temporary, { flags: 'wx', mode: 0o640, highWaterMark });
  try {
    await pipeline(body, file, { signal });
  } finally {
    if (!file.closed) await new Promise<void>((resolve) => file.once('close', () => resolve()));
  }
}

async function noSpace(path: string, cause: unknown): Promise<AgentFailure> {
  const { blocks, bsize } = await statfs(dirname(path));
  const message = `the snapshot does not fit into ${dirname(path)}, which has ${blocks * bsize} bytes: request a larger volume`;
  return new AgentFailure('too-large', message, { cause });
}
