import type { Manifest } from '../storage/manifest.ts';
import { AgentFailure } from './result.ts';

/** The minor version as one number: 3.5 is 305. */
function minorOf(version: string): number {
  const [major = Number.NaN, minor = Number.NaN] = version.replace(/^v/, '').split('.').map(Number);
  return major * 100 + minor;
}

/** An older etcd does not read what a newer one wrote, as far as the manifest tells. */
export function refuseNewer(manifest: Manifest | undefined, target: string | undefined): void {
  if (manifest === undefined || target === undefined) return;
  const { version, storageVersion } = manifest.etcd;
  const written = storageVersion ?? version;
  if (!(minorOf(written) > minorOf(target))) return;
  const says = `the snapshot was made by etcd ${version}, and etcd ${target} is older: restore into ${written} or newer`;
  throw new AgentFailure('too-new', says);
}
