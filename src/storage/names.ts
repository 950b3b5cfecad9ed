/** What the name of a periodic backup says. */
export interface DatedName {
  readonly revision: bigint;
  readonly takenAt: Date;
}

/** `<path>_v<revision>_<date>`: the original's form, in UTC to the second. */
export function datedKey(path: string, { revision, takenAt }: DatedName): string {
  const [date = '', time = ''] = takenAt.toISOString().slice(0, 19).split('T');
  return `${path}_v${revision}_${date}-${time}`;
}

/** Reads a key of that form; nothing if it has another, or belongs to another path. */
export function datedNameIn(key: string, path: string): DatedName | undefined {
  if (!key.startsWith(`${path}_v`)) return undefined;
  const [, revision = '', date, time] = /^(\d{1,19})_(\d{4}-\d\d-\d\d)-(\d\d:\d\d:\d\d)$/.exec(
    key.slice(path.length + 2),
  ) ?? [undefined];
  const takenAt = new Date(`${date}T${time}Z`);
  return revision === '' || Number.isNaN(takenAt.getTime()) ? undefined : { revision: BigInt(revision), takenAt };
}

const manifestEnding = '.manifest.json';

/** Where the manifest of a snapshot is. */
export const manifestKey = (snapshotKey: string): string => `${snapshotKey}${manifestEnding}`;

export const isManifestKey = (key: string): boolean => key.endsWith(manifestEnding);

/** Whose manifest this is. */
export const snapshotKeyOf = (key: string): string => key.slice(0, -manifestEnding.length);
