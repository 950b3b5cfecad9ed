import { hashLength } from '../etcd/bbolt/trailing-hash.ts';
import { hexOf, type MemberStatus } from '../etcd/types.ts';
import { type ObjectAddress, urlOf } from '../objectstore/address.ts';
import { StoreFailure } from '../objectstore/failures.ts';
import { type Compression, type SnapshotManifest, writeManifest } from '../objectstore/manifest.ts';
import { datedKey, manifestKey } from '../objectstore/names.ts';
import type { ByteStream, ObjectStore } from '../objectstore/store.ts';
import { compressed } from './compression.ts';
import type { Progress } from './progress.ts';
import { replacementWarnings } from './replaced-backup.ts';
import { AgentFailure } from './result.ts';
import type { Source } from './source.ts';

export interface SaveSettings {
  readonly address: ObjectAddress;
  /** True if the key gets the revision and the date. */
  readonly dated: boolean;
  readonly compression: Compression;
  /** Owner of the backup and spec of the cluster, for the manifest. */
  readonly about: Pick<SnapshotManifest, 'owner' | 'cluster'>;
}

export interface SaveParts {
  readonly source: Source;
  readonly store: ObjectStore;
  readonly progress: Progress;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/**
 * Streams a snapshot into the store. The hash of etcd is checked before the last part is sent, so a damaged stream
 * never becomes an object. After `put`, the store is known to hold the same bytes. The manifest is written last: a
 * snapshot with one is whole.
 */
export async function save(settings: SaveSettings, parts: SaveParts): Promise<Readonly<Record<string, unknown>>> {
  const { source, store, progress, now, signal } = parts;
  const { status } = source;
  const key = settings.dated
    ? datedKey(settings.address.key, { revision: status.revision, takenAt: now })
    : settings.address.key;
  const saved = { cluster: settings.about.cluster, clusterId: hexOf(status.clusterId) };
  // Reads the old manifest before it is overwritten.
  const replacing = replacementWarnings(saved, { store, key, signal });
  progress.enter('saving', Number(status.dbSize) + hashLength);
  const sent = new StreamSummary();
  const plain = sent.observing(progress.counting(source.etcd.snapshot({ signal })));
  const stored = new StreamSummary();
  const putting = store.put(key, stored.observing(compressed(plain, settings.compression)), signal);
  await putting.catch((thrown: unknown) => deleteDamaged(thrown, settings.dated ? key : undefined, parts));

  progress.enter('verifying');
  const { size } = await store.head(key, signal);
  if (size !== stored.bytes)
    throw new AgentFailure('damaged', `object "${key}" has ${size} bytes, but ${stored.bytes} bytes were written`, {
      kind: 'unreachable',
    });
  const warnings = await replacing;
  const manifest = {
    takenAt: now.toISOString(),
    snapshot: { key, size, compression: settings.compression, plainSize: sent.bytes, sha256: sent.end },
    etcd: etcdIn(status),
    ...settings.about,
  };
  await store.put(manifestKey(key), once(writeManifest(manifest)), signal);
  return {
    url: urlOf({ ...settings.address, key }),
    takenAt: manifest.takenAt,
    ...manifest.snapshot,
    ...manifest.etcd,
    warnings: [...source.warnings, ...warnings],
  };
}

/**
 * Deletes a damaged object with a dated key, which would count as a backup. A fixed key may hold another writer's
 * object.
 */
async function deleteDamaged(thrown: unknown, key: string | undefined, { store, signal }: SaveParts): Promise<never> {
  const isDamaged = thrown instanceof StoreFailure && thrown.trouble === 'damaged';
  if (isDamaged && key !== undefined) await store.delete(key, signal).catch(() => undefined);
  throw thrown;
}

const etcdIn = ({
  version,
  storageVersion,
  revision,
  clusterId,
  memberId,
}: MemberStatus): SnapshotManifest['etcd'] => ({
  version,
  ...(storageVersion ? { storageVersion } : {}),
  revision: revision.toString(),
  clusterId: hexOf(clusterId),
  memberId: hexOf(memberId),
});

/** Length and last bytes of a stream. */
class StreamSummary {
  #bytes = 0;
  #end: Buffer = Buffer.alloc(0);

  async *observing(body: ByteStream): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const part of body) {
      this.#bytes += part.byteLength;
      const end = part.byteLength < hashLength ? Buffer.concat([this.#end, part]) : part;
      this.#end = Buffer.from(end.subarray(Math.max(0, end.byteLength - hashLength)));
      yield part;
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  get end(): string {
    return this.#end.toString('hex');
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
