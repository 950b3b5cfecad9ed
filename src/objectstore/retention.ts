import type { Owner, SnapshotManifest } from './manifest.ts';
import { datedNameIn, isManifestKey, manifestKey } from './names.ts';
import type { StoredObject } from './store.ts';

/** Retention limits. An undefined limit does not apply. */
export interface RetentionPolicy {
  /** Number of the newest backups to keep. */
  readonly count?: number | undefined;
  readonly ageMillis?: number | undefined;
}

/** Objects that may be pruned: those with a dated name of this path, and those whose manifest has this owner. */
export interface Ownership {
  readonly path: string;
  readonly ownerUid?: string | undefined;
  readonly ownerNamespace?: string | undefined;
  /** Prefix of the keys of objects with a manifest; by default the path. */
  readonly below?: string | undefined;
}

/** A snapshot of this operator, or of the original operator for the same path. */
export interface Backup {
  readonly key: string;
  /** By the clock of the node of the agent. */
  readonly takenAt: Date;
  /** By the clock of the store, which is the same for all backups. */
  readonly storedAt: Date;
  /** True if its size is that of the manifest. The content is not read. */
  readonly isGood: boolean;
  /** Keys of its objects: the snapshot first, then the manifest. */
  readonly keys: readonly string[];
}

/** Finds the owner's backups in a listing of a store, newest first. All other objects are ignored. */
export function backupsIn(
  objects: readonly StoredObject[],
  manifests: ReadonlyMap<string, SnapshotManifest>,
  ownership: Ownership,
): readonly Backup[] {
  const present = new Set(objects.map(({ key }) => key));
  return objects
    .filter(({ key }) => !isManifestKey(key))
    .flatMap((object) => backupOf(object, manifests.get(object.key), ownership) ?? [])
    .map((backup) => ({ ...backup, keys: backup.keys.filter((key) => present.has(key)) }))
    .sort(newestFirst);
}

/** Larger than the error of any node clock. */
const longestSkew = 24 * 3600 * 1000;

/**
 * Time of a backup by the clock of the store, because clocks of nodes differ. For an object that was copied much later,
 * the time at which it was taken counts.
 */
export function backupTimeOf({ takenAt, storedAt }: Backup): number {
  const [taken, stored] = [takenAt.getTime(), storedAt.getTime()];
  return stored - taken > longestSkew ? taken : stored;
}

const newestFirst = (a: Backup, b: Backup): number =>
  backupTimeOf(b) - backupTimeOf(a) || b.takenAt.getTime() - a.takenAt.getTime() || (a.key < b.key ? 1 : -1);

function backupOf(
  object: StoredObject,
  manifest: SnapshotManifest | undefined,
  ownership: Ownership,
): Backup | undefined {
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

/** The time of pruning by the node clock, and the key of the newest backup. */
export interface PruneTime {
  readonly now: Date;
  /** Key of the backup that was just made, if it is known. */
  readonly justMade?: string | undefined;
}

/**
 * Backups beyond the number or age limit, from a list with the newest first. Never the newest good backup, nor the one
 * that was just made. Ages are counted from the newest stored backup, or from now if the node clock is earlier.
 */
export function expiredAmong(
  backups: readonly Backup[],
  { count, ageMillis }: RetentionPolicy,
  time: PruneTime,
): readonly Backup[] {
  const isProtected = protectedAmong(backups, time);
  const now = Math.min(time.now.getTime(), ...backups.slice(0, 1).map(backupTimeOf));
  const isBeyond = (index: number): boolean => count !== undefined && count > 0 && index >= count;
  const isTooOld = (backup: Backup): boolean =>
    ageMillis !== undefined && ageMillis > 0 && now - backupTimeOf(backup) > ageMillis;
  return backups.filter((backup, index) => !isProtected.has(backup) && (isBeyond(index) || isTooOld(backup)));
}

/**
 * Backups that are never deleted; usually all of these are one. The clock of a volume is that of a node and may be
 * wrong.
 */
function protectedAmong(backups: readonly Backup[], { now, justMade }: PruneTime): ReadonlySet<Backup | undefined> {
  const last = (all: readonly Backup[], time: (of: Backup) => number): Backup | undefined =>
    all.toSorted((a, b) => time(b) - time(a))[0];
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
