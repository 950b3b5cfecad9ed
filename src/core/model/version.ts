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

/** Negative when `a` is older than `b`, positive when it is newer. */
export const compareVersions = (a: Version, b: Version): number =>
  a.major - b.major || a.minor - b.minor || a.patch - b.patch;

const atLeast = (text: string, floor: string): boolean => {
  const [version, least] = [parseVersion(text), parseVersion(floor)];
  return version !== undefined && least !== undefined && compareVersions(version, least) >= 0;
};

/** Members that listen without a vote, and are promoted when they have caught up. */
export const hasLearners = (version: string): boolean => atLeast(version, '3.4.0');
