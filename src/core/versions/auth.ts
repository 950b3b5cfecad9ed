import { parseVersion } from '../cluster/model/version.ts';

/**
 * True if an upgrade crosses from etcd 3.4 to 3.5. 3.5 cannot read changes to users in the format of 3.4, so a rolling
 * upgrade is impossible with auth users. Once a member runs 3.5, the check is pointless.
 */
export function isBlockedByAuth(running: readonly string[], wanted: string): boolean {
  const minors = running.map(minorNumberOf);
  return minors.length > 0 && minors.every((minor) => minor <= 4) && minors.includes(4) && minorNumberOf(wanted) >= 5;
}

const minorNumberOf = (version: string): number => parseVersion(version.replace(/[+-].*$/, ''))?.minor ?? 0;

export const authBlocksUpgrade = (wanted: string): string =>
  `rolling upgrade from etcd 3.4 to ${wanted} blocked: etcd has users; disable auth (etcdctl auth disable), and enable it again after the upgrade`;
