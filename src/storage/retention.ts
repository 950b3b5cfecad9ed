import type { Manifest } from './manifest.ts';
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
}

/** A snapshot that we made, or that the original made for the same path. */
export interface Backup {
  readonly key: string;
  readonly takenAt: Date;
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
    .sort((a, b) => b.takenAt.getTime() - a.takenAt.getTime() || (a.key < b.key ? 1 : -1));
}

function backupOf(object: StoredObject, manifest: Manifest | undefined, ownership: Ownership): Backup | undefined {
  const { key, size } = object;
  const keys = [key, manifestKey(key)];
  const named = datedNameIn(key, ownership.path);
  if (manifest?.owner !== undefined && manifest.owner.uid !== ownership.ownerUid) return undefined;
  if (manifest?.owner !== undefined)
    return { key, keys, takenAt: new Date(manifest.takenAt), isGood: manifest.snapshot.size === size };
  if (named === undefined) return undefined;
  return {
    key,
    keys,
    takenAt: named.takenAt,
    isGood: manifest === undefined ? size > 0 : manifest.snapshot.size === size,
  };
}

/** Which of our backups, newest first, are to go: beyond the number or the age that is kept, but never the newest good one. */
export function expiredAmong(
  backups: readonly Backup[],
  { count, ageMillis }: RetentionPolicy,
  now: Date,
): readonly Backup[] {
  const newestGood = backups.find(({ isGood }) => isGood);
  const isBeyond = (index: number): boolean => count !== undefined && count > 0 && index >= count;
  const isTooOld = ({ takenAt }: Backup): boolean =>
    ageMillis !== undefined && ageMillis > 0 && now.getTime() - takenAt.getTime() > ageMillis;
  return backups.filter((backup, index) => backup !== newestGood && (isBeyond(index) || isTooOld(backup)));
}
