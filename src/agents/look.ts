import { hashLength } from '../etcd/hash-at-the-end.ts';
import { Failure } from '../std/failure.ts';
import type { ObjectAddress } from '../storage/address.ts';
import type { Manifest } from '../storage/manifest.ts';
import type { Body } from '../storage/store.ts';
import { openOrSuggest } from './candidates.ts';
import { decompressed } from './compression.ts';
import type { FetchParts } from './fetch.ts';
import { manifestBeside, noManifest, ofAnother, savedCluster, told } from './manifest-beside.ts';
import { AgentFailure } from './result.ts';
import { refuseNewer } from './versions.ts';

export interface LookSettings {
  readonly address: ObjectAddress;
  /** The etcd that is to read it. */
  readonly targetVersion?: string | undefined;
  /** Whether to give back what the cluster was, for whoever makes it again. */
  readonly tellCluster?: boolean | undefined;
}

/** What can be said of a stored snapshot without reading it to its end; whether it is whole cannot. */
export async function lookAtSnapshot(
  { address, targetVersion, tellCluster }: LookSettings,
  { store, progress, signal }: FetchParts,
): Promise<Readonly<Record<string, unknown>>> {
  const { key } = address;
  const warnings: string[] = [];
  const beside = await manifestBeside(store, key, { signal, warnings });
  const object = await openOrSuggest(store, address, signal);
  const manifest = ofSameSize(beside, object.size, warnings);
  refuseNewer({ ...manifest?.etcd }, targetVersion);
  progress.enter('looking', object.size);
  const { compression, body } = await decompressed(object.body);
  const problem = problemWith(object.size, await beginningOf(body));
  if (problem !== undefined) throw new AgentFailure('damaged', `object "${key}" is no whole snapshot: ${problem}`);
  if (manifest === undefined) warnings.push(noManifest);
  const cluster = tellCluster === true ? savedCluster(manifest) : {};
  return { size: object.size, compression, ...told(manifest), ...cluster, warnings };
}

/** One of another size was left by a snapshot that was there before, and says nothing of this one. */
function ofSameSize(beside: Manifest | undefined, size: number, warnings: string[]): Manifest | undefined {
  if (beside === undefined || beside.snapshot.size === size) return beside;
  warnings.push(ofAnother(beside));
  return undefined;
}

/** Where a database of etcd has its mark: in the first page, after the page's own header. */
const markAt = 16;
const mark = 0xed0cdaed;

/** Its first bytes; nothing where they cannot be unpacked. */
const beginningOf = (body: Body): Promise<Buffer | undefined> =>
  firstOf(body, markAt + 4).catch((thrown: unknown) => {
    if (thrown instanceof Failure) throw thrown; // the store's, not the object's
    return undefined;
  });

async function firstOf(body: Body, enough: number): Promise<Buffer> {
  let first: Buffer = Buffer.alloc(0);
  for await (const part of body) {
    first = Buffer.concat([first, part]);
    if (first.byteLength >= enough) break;
  }
  return first;
}

function problemWith(size: number, beginning: Buffer | undefined): string | undefined {
  if (size === 0) return 'it is empty';
  if (beginning === undefined) return 'it cannot be unpacked';
  if (beginning.byteLength < hashLength && beginning.byteLength === size) return `it has only ${size} bytes`;
  return isMarked(beginning) ? undefined : 'it does not begin as a database of etcd does';
}

/** Machines write it in their own order. */
const isMarked = (beginning: Buffer): boolean =>
  beginning.byteLength >= markAt + 4 &&
  (beginning.readUInt32LE(markAt) === mark || beginning.readUInt32BE(markAt) === mark);
