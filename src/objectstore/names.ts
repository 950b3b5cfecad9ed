/** Revision and time in the name of a periodic backup. */
export interface DatedName {
  readonly revision: bigint;
  readonly takenAt: Date;
}

/** `<path>_v<revision>_<date>`: the form of the original operator, in UTC to the second. */
export function datedKey(path: string, { revision, takenAt }: DatedName): string {
  const [date = '', time = ''] = takenAt.toISOString().slice(0, 19).split('T');
  return `${path}_v${revision}_${date}-${time}`;
}

/** Parses a key of that form; undefined for another form or another path. */
export function datedNameIn(key: string, path: string): DatedName | undefined {
  if (!key.startsWith(`${path}_v`)) return undefined;
  const [, revision = '', date, time] = /^(\d{1,19})_(\d{4}-\d\d-\d\d)-(\d\d:\d\d:\d\d)$/.exec(
    key.slice(path.length + 2),
  ) ?? [undefined];
  const takenAt = new Date(`${date}T${time}Z`);
  return revision === '' || Number.isNaN(takenAt.getTime()) ? undefined : { revision: BigInt(revision), takenAt };
}

const manifestEnding = '.manifest.json';

/** Key of the manifest of a snapshot. */
export const manifestKey = (snapshotKey: string): string => `${snapshotKey}${manifestEnding}`;

export const isManifestKey = (key: string): boolean => key.endsWith(manifestEnding);

/** Key of the snapshot of a manifest. */
export const snapshotKeyOf = (key: string): string => key.slice(0, -manifestEnding.length);
