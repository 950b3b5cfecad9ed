import { storageVersionIn } from '../etcd/bbolt/storage-version.ts';
import type { Manifest } from '../objectstore/manifest.ts';
import { Failure } from '../std/failure.ts';
import { AgentFailure } from './result.ts';

/** The minor version as one number: 3.5 is 305. */
export function minorNumberOf(version: string): number {
  const [major = Number.NaN, minor = Number.NaN] = version.replace(/^v/, '').split('.').map(Number);
  return major * 100 + minor;
}

/** Version of the etcd that made a snapshot. `storageVersion` is the oldest version that can read it. */
export type WriterVersion = Partial<Pick<Manifest['etcd'], 'version' | 'storageVersion'>>;

export const isVersionUnknown = ({ version, storageVersion }: WriterVersion): boolean =>
  version === undefined && storageVersion === undefined;

/** Fails if the snapshot needs a newer etcd than the target. Unknown versions pass. */
export function refuseNewer({ version, storageVersion }: WriterVersion, target: string | undefined): void {
  const oldest = storageVersion ?? version;
  if (oldest === undefined || target === undefined || !(minorNumberOf(oldest) > minorNumberOf(target))) return;
  const made = version === undefined ? `needs etcd ${oldest}` : `was made by etcd ${version}`;
  const message = `the snapshot ${made}, but the target is etcd ${target}: restore into etcd ${oldest} or newer`;
  throw new AgentFailure('too-new', message);
}

/** The storage version inside a snapshot file. A file that cannot be parsed gets a warning: etcdutl checks it later. */
export async function storageVersionOf(
  file: string | undefined,
  warnings: string[],
): Promise<Pick<WriterVersion, 'storageVersion'>> {
  if (file === undefined) return {};
  try {
    const storageVersion = await storageVersionIn(file);
    return storageVersion === undefined ? {} : { storageVersion };
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    if (kind !== 'rejected') throw thrown;
    warnings.push(`the storage version inside the snapshot is ignored: ${message}`);
    return {};
  }
}
