import { storageVersionIn } from '../etcd/storage-version.ts';
import { Failure } from '../std/failure.ts';
import type { Manifest } from '../storage/manifest.ts';
import { AgentFailure } from './result.ts';

/** The minor version as one number: 3.5 is 305. */
export function minorOf(version: string): number {
  const [major = Number.NaN, minor = Number.NaN] = version.replace(/^v/, '').split('.').map(Number);
  return major * 100 + minor;
}

/** What is known of the etcd that made a snapshot: `storageVersion` is the oldest that can read it. */
export type Written = Partial<Pick<Manifest['etcd'], 'version' | 'storageVersion'>>;

export const isUnsaid = ({ version, storageVersion }: Written): boolean =>
  version === undefined && storageVersion === undefined;

/** An older etcd does not read what a newer one wrote, as far as somebody tells. */
export function refuseNewer({ version, storageVersion }: Written, target: string | undefined): void {
  const oldest = storageVersion ?? version;
  if (oldest === undefined || target === undefined || !(minorOf(oldest) > minorOf(target))) return;
  const made = version === undefined ? `needs etcd ${oldest}` : `was made by etcd ${version}`;
  const says = `the snapshot ${made}, and etcd ${target} is older: restore into ${oldest} or newer`;
  throw new AgentFailure('too-new', says);
}

/** What a snapshot in a file says itself. Of one that we cannot make out, etcd's own tool is the judge. */
export async function saidBySnapshot(
  file: string | undefined,
  warnings: string[],
): Promise<Pick<Written, 'storageVersion'>> {
  if (file === undefined) return {};
  try {
    const storageVersion = await storageVersionIn(file);
    return storageVersion === undefined ? {} : { storageVersion };
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    if (kind !== 'rejected') throw thrown;
    warnings.push(`what the snapshot says itself of its version is left aside: ${message}`);
    return {};
  }
}
