import type { Naming } from '../model/template.ts';
import { parseVersion } from '../model/version.ts';

/**
 * Up to 3.3 even a question for etcd's health was a request of its old API, and stands in the log; up to 3.5 members say by such
 * requests who they are, and which version all have agreed on. From 3.6 on etcd refuses to read the former, from 3.7 on all of
 * them. So they must be behind a snapshot by then, and a snapshot is made only every 10,000 entries, or 100,000. Whoever
 * comes to 3.5 or 3.6 makes them more often, until it leaves 3.6. As with the first cluster's list, an annotation of
 * the pod carries the number into the environment, where a change of the image is enough to change it.
 */
export const snapshotAnnotation = ({ prefix }: Naming): string => `${prefix}/snapshot-count`;

export const snapshotEnvironment = (naming: Naming): Readonly<Record<string, unknown>> => ({
  name: 'ETCD_SNAPSHOT_COUNT', // etcd takes an empty one for none
  valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${snapshotAnnotation(naming)}']` } },
});

interface Move {
  readonly from: string;
  readonly to: string;
  /** How long the log is. */
  readonly raftIndex: bigint;
}

/** By minor, from how long the log is. */
const countIn: Readonly<Record<number, (raftIndex: bigint) => string>> = {
  5: (raftIndex) => (raftIndex < 1000n ? '1' : '100'),
  // Where there is no snapshot yet the whole log counts, so half of it has one made at once, and not so often for ever after.
  6: (raftIndex) => String(Math.min(Math.max(Number(raftIndex / 2n), 1), 100)),
};

/** Whether it can read such requests, and the next may not. */
export const makesMoreSnapshots = (version: string): boolean =>
  countIn[parseVersion(version)?.minor ?? 0] !== undefined;

/**
 * What the annotation of a new pod is to say. `said`: what its disk says, and what the others' pods say: whoever joins them is
 * sent the same log.
 */
export function snapshotCountOf(move: Move, said: readonly (string | undefined)[]): string {
  if (!makesMoreSnapshots(move.to)) return '';
  return snapshotCountAfter(move) ?? said.find((count) => count !== undefined && count !== '') ?? '';
}

/** What the annotation is to say from now on; nothing when it stays as it is. */
export function snapshotCountAfter({ from, to, raftIndex }: Move): string | undefined {
  const [before, after] = [parseVersion(from), parseVersion(to)];
  if (before === undefined || after === undefined || before.minor === after.minor) return undefined;
  const count = countIn[after.minor];
  if (count === undefined) return '';
  return before.minor < after.minor ? count(raftIndex) : undefined;
}
