import type { EtcdGroup } from './group.ts';

/** An entry of the member list. */
export interface MemberEntry {
  readonly id: bigint;
  /** Empty until the member has started once. */
  readonly name: string;
  readonly peerURL: string;
  readonly clientURLs: readonly string[];
  readonly isLearner: boolean;
}

/** A data directory. `index` is the last entry of its Raft log. */
export interface DataDirectory {
  readonly group: EtcdGroup;
  readonly memberId: bigint;
  index: number;
  lastVersion: string;
  /** The minor that may read the directory; undefined before 3.6, which records none. */
  storageMinor: number | undefined;
}

/** A volume. Empty volumes and lost data look the same to etcd. */
export interface Disk {
  data: DataDirectory | undefined;
}

/** The settings of etcd's command line that matter here. */
export interface EtcdFlags {
  readonly name: string;
  /** The host and peer URL that this member advertises. */
  readonly peerURL: string;
  readonly initialCluster: string;
  readonly initialState: string;
  readonly token: string;
}

export const hostIn = (url: string): string => URL.parse(url)?.hostname ?? '';

const minors = new Map<string, number>();

/** The minor of a version such as 3.5.21. */
export function minorIn(version: string): number {
  const known = minors.get(version);
  if (known !== undefined) return known;
  const minor = Number(version.split('.')[1] ?? 0);
  minors.set(version, minor);
  return minor;
}

export const patchIn = (version: string): number => Number(version.split('.')[2]?.replace(/\D.*$/, '') ?? 0);

/** A 64-bit hash of a text, for IDs. */
export function hash64(text: string): bigint {
  let [a, b] = [0x811c9dc5, 0x1b873593];
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x85ebca6b);
  }
  return (BigInt(a >>> 0) << 31n) | BigInt(b >>> 1) | 1n;
}
