/** An etcd version, as its three numbers. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** Reads `3.5.35` or `v3.5.35`; anything else is not a version. */
export function parseVersion(text: string): Version | undefined {
  const parts = /^v*(\d{1,4})\.(\d{1,4})\.(\d{1,4})$/.exec(text);
  if (parts === null) return undefined;
  const [major = 0, minor = 0, patch = 0] = parts.slice(1).map(Number);
  return { major, minor, patch };
}

/** The release that begins a version's minor, by which etcd speaks of the minor: `3.6.0` for `3.6.16`. */
export const minorOf = (text: string): string => `${text.split('.').slice(0, 2).join('.')}.0`;

/** Negative when `a` is older than `b`, positive when it is newer. */
export const compareVersions = (a: Version, b: Version): number =>
  a.major - b.major || a.minor - b.minor || a.patch - b.patch;

const atLeast = (text: string, floor: string): boolean => {
  const [version, least] = [parseVersion(text), parseVersion(floor)];
  return version !== undefined && least !== undefined && compareVersions(version, least) >= 0;
};

/** Whether one version is older than another; of what is no version, neither is. */
export function isOlder(one: string, than: string): boolean {
  const [a, b] = [parseVersion(one), parseVersion(than)];
  return a !== undefined && b !== undefined && compareVersions(a, b) < 0;
}

/** What members are doing that go from one version to another. */
export const movingTo = (version: string, from: string): string =>
  `${isOlder(version, from) ? 'downgrading' : 'upgrading'} to ${version}`;

/** Whether two versions have the same three numbers, whatever a builder has added to them. */
export const isSameVersion = (one: string | undefined, other: string): boolean =>
  numbersOf(one ?? '') === numbersOf(other);

const numbersOf = (text: string): string => /^v*(\d+\.\d+\.\d+)/.exec(text)?.[1] ?? text;

/** Whether a member, besides checking a peer's certificate, looks up which names the peer's address has. */
export const looksUpPeers = (version: string): boolean => atLeast(version, '3.2.0');

/** Whether a member shows a renewed certificate without being started again. */
export const rereadsCertificates = (version: string): boolean => atLeast(version, '3.2.0');

/** The call by which a leader can be asked to hand over. */
export const canMoveLeader = (version: string): boolean => atLeast(version, '3.3.0');

/** Its commands were etcdctl's own until then, and are gone from there since 3.6. */
export const hasEtcdutl = (version: string): boolean => atLeast(version, '3.5.0');

/** Whether a restore can move revisions on. */
export const canLeapRevisions = (version: string): boolean => atLeast(version, '3.5.10');

/** Members that listen without a vote, and are promoted when they have caught up. */
export const hasLearners = (version: string): boolean => atLeast(version, '3.4.0');
