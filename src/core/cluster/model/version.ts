/** An etcd version. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** Parses `3.5.35` or `v3.5.35`; undefined for anything else. */
export function parseVersion(text: string): Version | undefined {
  const parts = /^v*(\d{1,4})\.(\d{1,4})\.(\d{1,4})$/.exec(text);
  if (parts === null) return undefined;
  const [major = 0, minor = 0, patch = 0] = parts.slice(1).map(Number);
  return { major, minor, patch };
}

/** The minor of a version in etcd's own notation: `3.6.0` for `3.6.16`. */
export const minorOf = (text: string): string => `${text.split('.').slice(0, 2).join('.')}.0`;

/** Negative when `a` is older than `b`, positive when it is newer. */
export const compareVersions = (a: Version, b: Version): number =>
  a.major - b.major || a.minor - b.minor || a.patch - b.patch;

const atLeast = (text: string, floor: string): boolean => {
  const [version, least] = [parseVersion(text), parseVersion(floor)];
  return version !== undefined && least !== undefined && compareVersions(version, least) >= 0;
};

/** True if both are versions and the first is older. */
export function isOlder(one: string, than: string): boolean {
  const [a, b] = [parseVersion(one), parseVersion(than)];
  return a !== undefined && b !== undefined && compareVersions(a, b) < 0;
}

/** A message for members that change their version. */
export const movingTo = (version: string, from: string): string =>
  `${isOlder(version, from) ? 'downgrading' : 'upgrading'} to ${version}`;

/** True if two versions have the same major, minor and patch. Build suffixes are ignored. */
export const isSameVersion = (one: string | undefined, other: string): boolean =>
  numbersOf(one ?? '') === numbersOf(other);

const numbersOf = (text: string): string => /^v*(\d+\.\d+\.\d+)/.exec(text)?.[1] ?? text;

/** True if members check the address of a peer against the DNS names in its certificate. */
export const looksUpPeers = (version: string): boolean => atLeast(version, '3.2.0');

/** True if members serve a renewed certificate without a restart. */
export const rereadsCertificates = (version: string): boolean => atLeast(version, '3.2.0');

/** True if etcd has the MoveLeader call. */
export const canMoveLeader = (version: string): boolean => atLeast(version, '3.3.0');

/** True if the image contains etcdutl. Before 3.5 its commands are part of etcdctl. */
export const hasEtcdutl = (version: string): boolean => atLeast(version, '3.5.0');

/** True if a restore can bump revisions. */
export const canLeapRevisions = (version: string): boolean => atLeast(version, '3.5.10');

/** True if etcd has learners: members without a vote that are promoted once they have caught up. */
export const hasLearners = (version: string): boolean => atLeast(version, '3.4.0');

/** True if a member of this version honours `linearizable` for its member list by itself: since etcd 3.5. */
export const confirmsListLinearizably = (version: string | undefined): boolean => atLeast(version ?? '', '3.5.0');
