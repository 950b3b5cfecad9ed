/** What is known of etcd's releases. It is data: a new release of etcd changes nothing but this. */

/** The newest patch of each minor, by which a longer way is walked. */
export const newestOf: Readonly<Record<string, string>> = {
  '3.1': '3.1.20',
  '3.2': '3.2.32',
  '3.3': '3.3.27',
  '3.4': '3.4.37',
  '3.5': '3.5.35',
  '3.6': '3.6.16',
  '3.7': '3.7.3',
};

/** What those run who do not say which version they want. */
export const newest = '3.7.3';

/** The least patch of a minor that may be followed by the next minor: earlier ones leave data that the next stumbles over. */
export const floorBeforeNext: Readonly<Record<string, string>> = {
  '3.5': '3.5.32',
  '3.6': '3.6.11',
};

/** From here on etcd itself can go back by a minor. */
export const firstThatGoesBack = { major: 3, minor: 6 } as const;

interface Fault {
  readonly from: string;
  readonly to: string;
  readonly says: string;
  /** Whether nobody should run it at all. */
  readonly refused: boolean;
}

const holeUntil = (mended: string): string =>
  `lets users watch what they may not read, until ${mended} (CVE-2026-73499)`;

/** The first that fits is told. */
export const faults: readonly Fault[] = [
  { from: '3.5.0', to: '3.5.2', refused: true, says: 'can lose consistency between members when one crashes' },
  { from: '3.5.3', to: '3.5.5', refused: false, says: 'may leave different revisions after a crash during defrag' },
  { from: '3.5.20', to: '3.5.20', refused: false, says: 'may promote learners that are then not allowed to vote' },
  { from: '3.5.0', to: '3.5.32', refused: false, says: holeUntil('3.5.33') },
  { from: '3.6.0', to: '3.6.13', refused: false, says: holeUntil('3.6.14') },
  { from: '3.7.0', to: '3.7.0', refused: false, says: holeUntil('3.7.1') },
];
