/** Data on etcd releases. A new release of etcd changes only this file. */

/** The newest patch of each minor, used for intermediate hops of an upgrade. */
export const newestOf: Readonly<Record<string, string>> = {
  '3.1': '3.1.20',
  '3.2': '3.2.32',
  '3.3': '3.3.27',
  '3.4': '3.4.37',
  '3.5': '3.5.35',
  '3.6': '3.6.16',
  '3.7': '3.7.3',
};

/** The default version. */
export const newest = '3.7.3';

/** The minimum patch of a minor before the next minor: the next minor fails on data of earlier patches. */
export const floorBeforeNext: Readonly<Record<string, string>> = {
  '3.5': '3.5.32',
  '3.6': '3.6.11',
};

/** The first minor of etcd that supports a downgrade. */
export const firstWithDowngrade = { major: 3, minor: 6 } as const;

interface Fault {
  readonly from: string;
  readonly to: string;
  readonly effect: string;
  /** True if the operator refuses to bootstrap or upgrade to the version. */
  readonly refused: boolean;
}

const watchHole = (fixedIn: string): string =>
  `lets users watch keys that they may not read (CVE-2026-73499, fixed in ${fixedIn})`;

/** Known faults by range of versions. Only the first match is reported. */
export const faults: readonly Fault[] = [
  { from: '3.5.0', to: '3.5.2', refused: true, effect: 'can lose consistency between members when one crashes' },
  { from: '3.5.3', to: '3.5.5', refused: false, effect: 'may leave different revisions after a crash during defrag' },
  { from: '3.5.20', to: '3.5.20', refused: false, effect: 'may promote learners that are then not allowed to vote' },
  { from: '3.5.0', to: '3.5.32', refused: false, effect: watchHole('3.5.33') },
  { from: '3.6.0', to: '3.6.13', refused: false, effect: watchHole('3.6.14') },
  { from: '3.7.0', to: '3.7.0', refused: false, effect: watchHole('3.7.1') },
];
