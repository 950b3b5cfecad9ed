import { Failure } from '../std/failure.ts';
import { longestManifest, type Manifest, readManifest } from '../storage/manifest.ts';
import { isManifestKey, snapshotKeyOf } from '../storage/names.ts';
import { backupsIn, expiredAmong, type Ownership, type RetentionPolicy } from '../storage/retention.ts';
import type { ObjectStore, StoredObject } from '../storage/store.ts';

export interface PruneSettings {
  readonly ownership: Ownership;
  readonly policy: RetentionPolicy;
}

export interface PruneParts {
  readonly store: ObjectStore;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/** Deletes those of our backups that are beyond what is kept; the oldest first, so that being cut off does no harm. */
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
    for (const key of keys.toReversed()) await store.delete(key, either); // the manifest first: a snapshot without one is still known by its name
  });
  return { deleted: expired.map(({ key }) => key), kept: backups.length - expired.length };
}

/** Each is a round trip, and there may be thousands. */
const most = 24;

/** Does something with each, some at once and in their order; the first that fails ends it. */
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
    await Promise.all(Array.from({ length: most }, worker));
    signal.throwIfAborted();
  } finally {
    over.abort(); // the others need not go on
  }
}

async function manifestsAmong(
  objects: readonly StoredObject[],
  store: ObjectStore,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Manifest>> {
  const manifests = new Map<string, Manifest>();
  const those = objects.filter(({ key, size }) => isManifestKey(key) && size <= longestManifest);
  await atOnce(those, signal, async ({ key }, either) => {
    const manifest = await readOne(store, key, either);
    if (manifest !== undefined) manifests.set(snapshotKeyOf(key), manifest);
  });
  return manifests;
}

/** What is no manifest of ours, or was deleted meanwhile, says nothing. */
async function readOne(store: ObjectStore, key: string, signal: AbortSignal): Promise<Manifest | undefined> {
  try {
    const { body } = await store.get(key, signal);
    return readManifest(Buffer.concat(await Array.fromAsync(body)).toString());
  } catch (thrown) {
    const { kind } = Failure.from(thrown);
    if (kind === 'rejected' || kind === 'not-found') return undefined;
    throw thrown;
  }
}
