import { hashLength } from '../etcd/hash-at-the-end.ts';
import { hexOf, type MemberStatus } from '../etcd/words.ts';
import { type ObjectAddress, urlOf } from '../storage/address.ts';
import { StoreFailure } from '../storage/failures.ts';
import { type Compression, type Manifest, writeManifest } from '../storage/manifest.ts';
import { datedKey, manifestKey } from '../storage/names.ts';
import type { Body, ObjectStore } from '../storage/store.ts';
import { compressed } from './compression.ts';
import type { Progress } from './progress.ts';
import { doubtsOfReplacing } from './replaced.ts';
import { AgentFailure } from './result.ts';
import type { Source } from './source.ts';

export interface SaveSettings {
  readonly address: ObjectAddress;
  /** Whether revision and date are to be part of the key. */
  readonly dated: boolean;
  readonly compression: Compression;
  /** Whom the backup is for, and the cluster as it was asked for. */
  readonly about: Pick<Manifest, 'owner' | 'cluster'>;
}

export interface SaveParts {
  readonly source: Source;
  readonly store: ObjectStore;
  readonly progress: Progress;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/**
 * Streams a snapshot into the store. etcd's hash is checked before the last part is given away, so what arrives damaged never
 * becomes an object; the store is known to hold the same bytes when `put` ends; the manifest comes after the snapshot, so what has
 * one is whole.
 */
export async function save(settings: SaveSettings, parts: SaveParts): Promise<Readonly<Record<string, unknown>>> {
  const { source, store, progress, now, signal } = parts;
  const { status } = source;
  const key = settings.dated
    ? datedKey(settings.address.key, { revision: status.revision, takenAt: now })
    : settings.address.key;
  const saved = { cluster: settings.about.cluster, clusterId: hexOf(status.clusterId) };
  const replacing = doubtsOfReplacing(saved, { store, key, signal }); // known before our own manifest is there
  progress.enter('saving', Number(status.dbSize) + hashLength);
  const seen = new Seen();
  const plain = seen.watching(progress.counting(source.etcd.snapshot({ signal })));
  const stored = new Seen();
  const putting = store.put(key, stored.watching(compressed(plain, settings.compression)), signal);
  await putting.catch((thrown: unknown) => discarded(thrown, settings.dated ? key : undefined, parts));

  progress.enter('verifying');
  const { size } = await store.head(key, signal);
  if (size !== stored.bytes)
    throw new AgentFailure('damaged', `"${key}" has ${size} bytes where ${stored.bytes} were written`, {
      kind: 'unreachable',
    });
  const doubts = await replacing;
  const manifest = {
    takenAt: now.toISOString(),
    snapshot: { key, size, compression: settings.compression, plainSize: seen.bytes, sha256: seen.end },
    etcd: etcdIn(status),
    ...settings.about,
  };
  await store.put(manifestKey(key), once(writeManifest(manifest)), signal);
  return {
    url: urlOf({ ...settings.address, key }),
    takenAt: manifest.takenAt,
    ...manifest.snapshot,
    ...manifest.etcd,
    warnings: [...source.warnings, ...doubts],
  };
}

/** A damaged object of a dated name would count as a backup. One of a fixed name may be another writer's by now, and stays. */
async function discarded(thrown: unknown, key: string | undefined, { store, signal }: SaveParts): Promise<never> {
  const isDamaged = thrown instanceof StoreFailure && thrown.trouble === 'damaged';
  if (isDamaged && key !== undefined) await store.delete(key, signal).catch(() => undefined);
  throw thrown;
}

const etcdIn = ({ version, storageVersion, revision, clusterId, memberId }: MemberStatus): Manifest['etcd'] => ({
  version,
  ...(storageVersion ? { storageVersion } : {}),
  revision: revision.toString(),
  clusterId: hexOf(clusterId),
  memberId: hexOf(memberId),
});

/** Remembers of a stream how long it was and how it ended. */
class Seen {
  #bytes = 0;
  #end: Buffer = Buffer.alloc(0);

  async *watching(body: Body): AsyncGenerator<Uint8Array, void, undefined> {
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
