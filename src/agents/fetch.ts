import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { HashAtTheEnd, hashLength } from '../etcd/hash-at-the-end.ts';
import { Failure } from '../std/failure.ts';
import type { ObjectAddress } from '../storage/address.ts';
import type { Compression, Manifest } from '../storage/manifest.ts';
import type { Body, ObjectStore } from '../storage/store.ts';
import { openOrSuggest } from './candidates.ts';
import { collectingEarly } from './collect-early.ts';
import { decompressed } from './compression.ts';
import { manifestBeside, ofAnother, savedCluster, told, unsaidVersion } from './manifest-beside.ts';
import type { Progress } from './progress.ts';
import { AgentFailure } from './result.ts';
import { isUnsaid, refuseNewer, saidBySnapshot, type Written } from './versions.ts';

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
  /** Whether to give back what the cluster was, for whoever makes it again. */
  readonly tellCluster?: boolean | undefined;
  /** Whether the manifest beside it must be its own: somebody has relied upon what that says. */
  readonly asDescribed?: boolean | undefined;
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
  const manifest = await manifestBeside(store, key, { signal, warnings });
  const object = await openOrSuggest(store, settings.address, signal);
  progress.enter(settings.to === undefined ? 'proving' : 'fetching', object.size);
  const opened = await decompressed(collectingEarly(progress.counting(object.body)));
  const check = new Proof(key, settings.maxBytes);
  const whole = check.proving(opened.body);
  await (settings.to === undefined ? drained(whole) : kept(whole, settings.to, signal));
  const facts = factsFor(check.sha256, manifest, warnings);
  const written = await writtenBy(facts, settings, warnings);
  if (settings.asDescribed === true && facts === undefined) throw notAsDescribed(key);
  const cluster = settings.tellCluster === true ? savedCluster(facts) : {};
  return { ...proven(object.size, opened.compression, check), ...told(facts), ...written, ...cluster, warnings };
}

/** A manifest speaks for the snapshot whose hash it has, and for no other. */
function factsFor(sha256: string, manifest: Manifest | undefined, warnings: string[]): Manifest | undefined {
  if (manifest?.snapshot.sha256 === sha256) return manifest;
  if (manifest !== undefined) warnings.push(ofAnother(manifest));
  return undefined;
}

/** A manifest of another snapshot refuses nothing. */
async function writtenBy(
  facts: Manifest | undefined,
  { to, targetVersion }: FetchSettings,
  warnings: string[],
): Promise<Written> {
  const written = { ...facts?.etcd, ...(await saidBySnapshot(to, warnings)) };
  refuseNewer(written, targetVersion);
  if (isUnsaid(written)) warnings.push(unsaidVersion);
  return written;
}

const notAsDescribed = (key: string): AgentFailure =>
  new AgentFailure(
    'damaged',
    `the manifest beside "${key}" is of another snapshot, so nothing says what its cluster was`,
  );

const proven = (size: number, compression: Compression, { bytes, sha256 }: Proof): object => ({
  ...{ size, compression, plainSize: bytes, sha256 },
});

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

/**
 * Writes aside, and gives the file its name when it is proven. It is not waited for until the disk has it: it is read at once,
 * and after a crash of the node it is fetched anew.
 */
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

/** So much may wait for the disk while more of it arrives and is hashed. */
const highWaterMark = 4 * 1024 * 1024;

const written = (body: Body, aside: string, signal: AbortSignal): Promise<void> =>
  pipeline(body, createWriteStream(aside, { flags: 'wx', mode: 0o640, highWaterMark }), { signal });

async function noRoom(path: string, cause: unknown): Promise<AgentFailure> {
  const { blocks, bsize } = await statfs(dirname(path));
  const says = `the snapshot does not fit into ${dirname(path)}, which has ${blocks * bsize} bytes: give it a larger volume`;
  return new AgentFailure('too-large', says, { cause });
}
