import type { Naming } from '../cluster/model/template.ts';
import { parseVersion } from '../cluster/model/version.ts';

/**
 * The Raft log of older etcd contains v2 requests: up to 3.3 from health checks, up to 3.5 from the publication of
 * member names and of the cluster version. etcd 3.6 cannot read the former, etcd 3.7 cannot read any of them. So a Raft
 * snapshot must cover them before, but etcd makes one only every 10,000 or 100,000 entries. Members at 3.5 and 3.6
 * therefore make snapshots more often. Like the initial cluster, the number is an annotation that reaches etcd through
 * the environment: it changes together with the image.
 */
export const snapshotAnnotation = ({ prefix }: Naming): string => `${prefix}/snapshot-count`;

export const snapshotEnvironment = (naming: Naming): Readonly<Record<string, unknown>> => ({
  name: 'ETCD_SNAPSHOT_COUNT', // etcd treats an empty value as unset
  valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${snapshotAnnotation(naming)}']` } },
});

interface VersionChange {
  readonly from: string;
  readonly to: string;
  /** The length of the Raft log. */
  readonly raftIndex: bigint;
}

/** The snapshot count by minor and length of the log. */
const countIn: Readonly<Record<number, (raftIndex: bigint) => string>> = {
  5: (raftIndex) => (raftIndex < 1000n ? '1' : '100'),
  // Without a snapshot the whole log counts. Half of its length makes one snapshot at once, and later ones less often.
  6: (raftIndex) => String(Math.min(Math.max(Number(raftIndex / 2n), 1), 100)),
};

/** True if the version can read v2 requests and the next minor may not. */
export const needsFrequentSnapshots = (version: string): boolean =>
  countIn[parseVersion(version)?.minor ?? 0] !== undefined;

/**
 * The annotation of a new pod. `known`: the counts on its PVC and on the pods of the other members, because a joining
 * member receives the same log.
 */
export function snapshotCountOf(change: VersionChange, known: readonly (string | undefined)[]): string {
  if (!needsFrequentSnapshots(change.to)) return '';
  return snapshotCountAfter(change) ?? known.find((count) => count !== undefined && count !== '') ?? '';
}

/** The annotation after a change of the version; undefined if it stays. */
export function snapshotCountAfter({ from, to, raftIndex }: VersionChange): string | undefined {
  const [before, after] = [parseVersion(from), parseVersion(to)];
  if (before === undefined || after === undefined || before.minor === after.minor) return undefined;
  const count = countIn[after.minor];
  if (count === undefined) return '';
  return before.minor < after.minor ? count(raftIndex) : undefined;
}
