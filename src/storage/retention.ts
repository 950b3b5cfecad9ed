import type { Manifest, Owner } from './manifest.ts';
import { datedNameIn, isManifestKey, manifestKey } from './names.ts';
import type { StoredObject } from './store.ts';

/** How much is kept. What is not said limits nothing. */
export interface RetentionPolicy {
  /** How many of the newest. */
  readonly count?: number | undefined;
  readonly ageMillis?: number | undefined;
}

/** Which objects are ours to prune: those of the original's form under this path, and those whose manifest says so. */
export interface Ownership {
  readonly path: string;
  readonly ownerUid?: string | undefined;
  readonly ownerNamespace?: string | undefined;
  /** With what the keys of objects that have a manifest may begin; by default the path. */
  readonly below?: string | undefined;
}

/** A snapshot that we made, or that the original made for the same path. */
export interface Backup {
  readonly key: string;
  /** By the clock of the node that it was taken on. */
  readonly takenAt: Date;
  /** By the store's clock, which is the same for all. */
  readonly storedAt: Date;
  /** Whether it is stored as it was taken, as far as can be told without reading it. */
  readonly isGood: boolean;
  /** All objects that go with it, itself first. */
  readonly keys: readonly string[];
}

/** Finds our backups in a listing of a store, newest first. Everything else in there is somebody else's. */
export function backupsIn(
  objects: readonly StoredObject[],
  manifests: ReadonlyMap<string, Manifest>,
  ownership: Ownership,
): readonly Backup[] {
  const present = new Set(objects.map(({ key }) => key));
  return objects
    .filter(({ key }) => !isManifestKey(key))
    .flatMap((object) => backupOf(object, manifests.get(object.key), ownership) ?? [])
    .map((backup) => ({ ...backup, keys: backup.keys.filter((key) => present.has(key)) }))
    .sort(newestFirst);
}

/** No clock of a node is as wrong as this. */
const longestSkew = 24 * 3600 * 1000;

/**
 * Nodes' clocks differ, and what was made last must not look older than what was made before. So the store's clock counts,
 * unless the object has been copied there long after.
 */
export function timeOf({ takenAt, storedAt }: Backup): number {
  const [taken, stored] = [takenAt.getTime(), storedAt.getTime()];
  return stored - taken > longestSkew ? taken : stored;
}

const newestFirst = (a: Backup, b: Backup): number =>
  timeOf(b) - timeOf(a) || b.takenAt.getTime() - a.takenAt.getTime() || (a.key < b.key ? 1 : -1);

function backupOf(object: StoredObject, manifest: Manifest | undefined, ownership: Ownership): Backup | undefined {
  const { key, size, modified: storedAt } = object;
  const keys = [key, manifestKey(key)];
  const named = datedNameIn(key, ownership.path);
  if (manifest?.owner !== undefined && !isOwner(manifest.owner, ownership)) return undefined;
  if (manifest?.owner !== undefined)
    return { key, keys, storedAt, takenAt: new Date(manifest.takenAt), isGood: manifest.snapshot.size === size };
  if (named === undefined) return undefined;
  return {
    key,
    keys,
    storedAt,
    takenAt: named.takenAt,
    isGood: manifest === undefined ? size > 0 : manifest.snapshot.size === size,
  };
}

const isOwner = ({ uid, namespace }: Owner, { ownerUid, ownerNamespace = namespace }: Ownership): boolean =>
  uid === ownerUid && namespace === ownerNamespace;

/** What has just been made, and the clock of whoever has made it. */
export interface Occasion {
  readonly now: Date;
  /** Its key, where that is known beforehand. */
  readonly justMade?: string | undefined;
}

/**
 * Which of our backups, newest first, are to go: beyond the number or the age that is kept, but never the newest good one,
 * nor the one that was just made. Ages are counted to the last that was stored, or to now if that is earlier by our clock.
 */
export function expiredAmong(
  backups: readonly Backup[],
  { count, ageMillis }: RetentionPolicy,
  occasion: Occasion,
): readonly Backup[] {
  const spared = sparedOf(backups, occasion);
  const now = Math.min(occasion.now.getTime(), ...backups.slice(0, 1).map(timeOf));
  const isBeyond = (index: number): boolean => count !== undefined && count > 0 && index >= count;
  const isTooOld = (backup: Backup): boolean =>
    ageMillis !== undefined && ageMillis > 0 && now - timeOf(backup) > ageMillis;
  return backups.filter((backup, index) => !spared.has(backup) && (isBeyond(index) || isTooOld(backup)));
}

/** Mostly all of these are the same one. Where the store is a disk, its clock is that of the node, and may be wrong as well. */
function sparedOf(backups: readonly Backup[], { now, justMade }: Occasion): ReadonlySet<Backup | undefined> {
  const last = (those: readonly Backup[], time: (of: Backup) => number): Backup | undefined =>
    those.toSorted((a, b) => time(b) - time(a))[0];
  const takenAt = (of: Backup): number => of.takenAt.getTime();
  return new Set([
    backups.find(({ isGood }) => isGood),
    backups.find(({ key }) => key === justMade),
    last(backups, ({ storedAt }) => storedAt.getTime()),
    last(
      backups.filter((backup) => takenAt(backup) <= now.getTime()),
      takenAt,
    ),
  ]);
}
