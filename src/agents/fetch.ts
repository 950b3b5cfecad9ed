import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HashAtTheEnd, hashLength } from '../etcd/hash-at-the-end.ts';
import { Failure } from '../std/failure.ts';
import type { ObjectAddress } from '../storage/address.ts';
import { type Compression, longestManifest, type Manifest, readManifest } from '../storage/manifest.ts';
import { manifestKey } from '../storage/names.ts';
import type { Body, ObjectStore } from '../storage/store.ts';
import { decompressed } from './compression.ts';
import type { Progress } from './progress.ts';
import { AgentFailure } from './result.ts';
import { refuseNewer } from './versions.ts';

export interface FetchSettings {
  readonly address: ObjectAddress;
  /** Where the file is to be; without it, the object is only proven. */
  readonly to?: string | undefined;
  /** A directory of an earlier try, which is to go first. */
  readonly clear?: string | undefined;
  /** The most that the file may take: a small object may hold a large one. */
  readonly maxBytes: number;
  /** The etcd that is to read it. */
  readonly targetVersion?: string | undefined;
}

export interface FetchParts {
  readonly store: ObjectStore;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Reads a stored snapshot to its end, proves it whole by the hash that etcd put there, and keeps it if told where. */
export async function fetchSnapshot(
  settings: FetchSettings,
  parts: FetchParts,
): Promise<Readonly<Record<string, unknown>>> {
  const { store, progress, signal } = parts;
  const { key } = settings.address;
  if (settings.clear !== undefined) await rm(settings.clear, { recursive: true, force: true });
  const warnings: string[] = [];
  const manifest = await manifestOf(store, key, { signal, warnings });
  refuseNewer(manifest, settings.targetVersion);
  const object = await store.get(key, signal);
  progress.enter(settings.to === undefined ? 'proving' : 'fetching', object.size);
  const opened = await decompressed(progress.counting(object.body));
  const check = new Proof(key, settings.maxBytes);
  const whole = check.proving(opened.body);
  await (settings.to === undefined ? drained(whole) : kept(whole, settings.to, signal));
  const facts = factsFor(check.sha256, manifest, warnings);
  return { ...proven(object.size, opened.compression, check), ...told(facts), warnings };
}

/** A manifest speaks for the snapshot whose hash it has, and for no other. */
function factsFor(sha256: string, manifest: Manifest | undefined, warnings: string[]): Manifest | undefined {
  if (manifest?.snapshot.sha256 === sha256) return manifest;
  if (manifest !== undefined) warnings.push(`the manifest beside "${manifest.snapshot.key}" is of another snapshot`);
  warnings.push('nothing tells which etcd made this snapshot');
  return undefined;
}

const proven = (size: number, compression: Compression, { bytes, sha256 }: Proof): object => ({
  ...{ size, compression, plainSize: bytes, sha256 },
});

const told = (manifest: Manifest | undefined): object =>
  manifest === undefined ? {} : { takenAt: manifest.takenAt, ...manifest.etcd };

interface ManifestReading {
  readonly signal: AbortSignal;
  readonly warnings: string[];
}

/** The manifest beside a snapshot; foreign snapshots have none, and a bad one is no reason to lose a good snapshot. */
async function manifestOf(store: ObjectStore, key: string, reading: ManifestReading): Promise<Manifest | undefined> {
  try {
    const { body, size } = await store.get(manifestKey(key), reading.signal);
    if (size > longestManifest) throw new Failure('rejected', `${size} bytes are too many for a manifest`);
    return readManifest(Buffer.concat(await Array.fromAsync(body)).toString());
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    if (kind === 'not-found') return undefined;
    if (kind !== 'rejected') throw thrown;
    reading.warnings.push(`the manifest beside "${key}" is left aside: ${message}`);
    return undefined;
  }
}

/** Lets a snapshot through, and fails at its end if it is none. */
class Proof {
  readonly #check = new HashAtTheEnd();
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

  async *proving(body: Body): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const part of readable(body, this.#key)) {
      this.#bytes += part.byteLength;
      if (this.#bytes > this.#maxBytes) throw this.#tooLarge();
      this.#check.update(part);
      yield part;
    }
    const problem = this.#problem();
    if (problem === undefined) return;
    throw new AgentFailure('damaged', `object "${this.#key}" is no whole snapshot: ${problem}`);
  }

  #problem(): string | undefined {
    if (this.#bytes === 0) return 'it is empty';
    if (this.#bytes < hashLength) return `it has only ${this.#bytes} bytes`;
    if (this.#check.matches()) return undefined;
    if (this.#bytes % pageUnit === 0)
      return 'it has no hash at its end, as a copy of a database file; make one with etcdctl snapshot save';
    return 'its content and the hash at its end do not match, so bytes were lost or changed';
  }

  #tooLarge(): AgentFailure {
    const says = `object "${this.#key}" unpacks to more than ${this.#maxBytes} bytes, the most it may take`;
    return new AgentFailure('too-large', says);
  }
}

/** Database files are made of pages, whose sizes are multiples of this. */
const pageUnit = 512;

/** A stream that cannot be unpacked is a damaged object; what the store says stays as it is. */
async function* readable(body: Body, key: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    const says = `object "${key}" is no whole snapshot: it cannot be unpacked`;
    throw new AgentFailure('damaged', says, { cause: thrown });
  }
}

async function drained(body: Body): Promise<void> {
  for await (const _part of body);
}

/** Writes aside, and gives the file its name when it is proven and on the disk. */
async function kept(body: Body, path: string, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const aside = `${path}.${randomBytes(4).toString('hex')}.unfinished`;
  try {
    await written(body, aside, signal);
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? await noRoom(path, error) : error;
  }
}

async function written(body: Body, aside: string, signal: AbortSignal): Promise<void> {
  await using file = await open(aside, 'wx', 0o640);
  for await (const part of body) {
    signal.throwIfAborted();
    await file.writeFile(part);
  }
  await file.sync();
}

async function noRoom(path: string, cause: unknown): Promise<AgentFailure> {
  const { blocks, bsize } = await statfs(dirname(path));
  const says = `the snapshot does not fit into ${dirname(path)}, which has ${blocks * bsize} bytes: give it a larger volume`;
  return new AgentFailure('too-large', says, { cause });
}
