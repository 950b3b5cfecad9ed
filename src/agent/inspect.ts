import { hashLength } from '../etcd/bbolt/trailing-hash.ts';
import type { ObjectAddress } from '../objectstore/address.ts';
import type { SnapshotManifest } from '../objectstore/manifest.ts';
import type { ByteStream } from '../objectstore/store.ts';
import { Failure } from '../std/failure.ts';
import { openOrSuggest } from './candidates.ts';
import { decompressed } from './compression.ts';
import type { FetchParts } from './fetch.ts';
import { manifestBeside, manifestFacts, noManifest, savedCluster, wrongManifest } from './manifest-beside.ts';
import { AgentFailure } from './result.ts';
import { refuseNewer } from './versions.ts';

export interface InspectSettings {
  readonly address: ObjectAddress;
  /** The etcd version that is to read the snapshot. */
  readonly targetVersion?: string | undefined;
  /** True if the result gets the cluster spec of the manifest, to create the cluster again. */
  readonly reportCluster?: boolean | undefined;
}

/** Checks the start and the manifest of a stored snapshot. Whether the snapshot is whole needs a full read. */
export async function inspectSnapshot(
  { address, targetVersion, reportCluster }: InspectSettings,
  { store, progress, signal }: FetchParts,
): Promise<Readonly<Record<string, unknown>>> {
  const { key } = address;
  const warnings: string[] = [];
  const beside = await manifestBeside(store, key, { signal, warnings });
  const object = await openOrSuggest(store, address, signal);
  const manifest = ofSameSize(beside, object.size, warnings);
  refuseNewer({ ...manifest?.etcd }, targetVersion);
  progress.enter('inspecting', object.size);
  const { compression, body } = await decompressed(object.body);
  const problem = problemWith(object.size, await beginningOf(body));
  if (problem !== undefined) throw new AgentFailure('damaged', `object "${key}" is not a whole snapshot: ${problem}`);
  if (manifest === undefined) warnings.push(noManifest);
  const cluster = reportCluster === true ? savedCluster(manifest) : {};
  return { size: object.size, compression, ...manifestFacts(manifest), ...cluster, warnings };
}

/** A manifest with another size belongs to an earlier snapshot of that key and is ignored. */
function ofSameSize(
  beside: SnapshotManifest | undefined,
  size: number,
  warnings: string[],
): SnapshotManifest | undefined {
  if (beside === undefined || beside.snapshot.size === size) return beside;
  warnings.push(wrongManifest(beside));
  return undefined;
}

/** Offset of the magic number of bbolt in the first page, after the page header. */
const magicOffset = 16;
const magic = 0xed0cdaed;

/** The first bytes of the body; undefined if they cannot be decompressed. */
const beginningOf = (body: ByteStream): Promise<Buffer | undefined> =>
  firstOf(body, magicOffset + 4).catch((thrown: unknown) => {
    if (thrown instanceof Failure) throw thrown; // a failure of the store, not of decompression
    return undefined;
  });

async function firstOf(body: ByteStream, wantedBytes: number): Promise<Buffer> {
  let first: Buffer = Buffer.alloc(0);
  for await (const part of body) {
    first = Buffer.concat([first, part]);
    if (first.byteLength >= wantedBytes) break;
  }
  return first;
}

function problemWith(size: number, beginning: Buffer | undefined): string | undefined {
  if (size === 0) return 'it is empty';
  if (beginning === undefined) return 'it cannot be decompressed';
  if (beginning.byteLength < hashLength && beginning.byteLength === size) return `it has only ${size} bytes`;
  return hasMagic(beginning) ? undefined : 'it does not begin like a database of etcd';
}

/** The byte order is that of the machine that wrote the database. */
const hasMagic = (beginning: Buffer): boolean =>
  beginning.byteLength >= magicOffset + 4 &&
  (beginning.readUInt32LE(magicOffset) === magic || beginning.readUInt32BE(magicOffset) === magic);
