import { longestManifest, readManifest, type SnapshotManifest } from '../objectstore/manifest.ts';
import { isManifestKey, snapshotKeyOf } from '../objectstore/names.ts';
import { backupsIn, expiredAmong, type Ownership, type RetentionPolicy } from '../objectstore/retention.ts';
import type { ObjectStore, StoredObject } from '../objectstore/store.ts';
import { Failure } from '../std/failure.ts';

export interface PruneSettings {
  readonly ownership: Ownership;
  readonly policy: RetentionPolicy;
}

export interface PruneParts {
  readonly store: ObjectStore;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/** Deletes expired backups, the oldest first, so that an interrupted run does no harm. */
export async function prune(
  settings: PruneSettings,
  { store, now, signal }: PruneParts,
): Promise<{ readonly deleted: readonly string[]; readonly kept: number }> {
  const { path, below = path } = settings.ownership;
  const objects = await Array.fromAsync(store.list(below, signal));
  const manifests = await manifestsAmong(objects, store, signal);
  const backups = backupsIn(objects, manifests, settings.ownership);
  const expired = expiredAmong(backups, settings.policy, { now, justMade: path });
  await atOnce(expired.toReversed(), signal, async ({ keys }, either) => {
    // The manifest first: a snapshot without one is still found by its dated name.
    for (const key of keys.toReversed()) await store.delete(key, either);
  });
  return { deleted: expired.map(({ key }) => key), kept: backups.length - expired.length };
}

/** Parallel requests: there may be thousands of objects, one round trip each. */
const parallelism = 24;

/** Processes items in order, several in parallel. The first failure ends all. */
async function atOnce<T>(
  all: readonly T[],
  signal: AbortSignal,
  work: (each: T, either: AbortSignal) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const left = all.values();
  const worker = async (): Promise<void> => {
    for (const each of left) if (!either.aborted) await work(each, either);
  };
  try {
    await Promise.all(Array.from({ length: parallelism }, worker));
    signal.throwIfAborted();
  } finally {
    over.abort(); // ends the other workers
  }
}

async function manifestsAmong(
  objects: readonly StoredObject[],
  store: ObjectStore,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, SnapshotManifest>> {
  const manifests = new Map<string, SnapshotManifest>();
  const candidates = objects.filter(({ key, size }) => isManifestKey(key) && size <= longestManifest);
  await atOnce(candidates, signal, async ({ key }, either) => {
    const manifest = await readOne(store, key, either);
    if (manifest !== undefined) manifests.set(snapshotKeyOf(key), manifest);
  });
  return manifests;
}

/** Undefined for an invalid manifest, or one deleted meanwhile. */
async function readOne(store: ObjectStore, key: string, signal: AbortSignal): Promise<SnapshotManifest | undefined> {
  try {
    const { body } = await store.get(key, signal);
    return readManifest(Buffer.concat(await Array.fromAsync(body)).toString());
  } catch (thrown) {
    const { kind } = Failure.from(thrown);
    if (kind === 'rejected' || kind === 'not-found') return undefined;
    throw thrown;
  }
}
