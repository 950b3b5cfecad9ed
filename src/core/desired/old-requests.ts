import type { Naming } from '../model/template.ts';
import { parseVersion } from '../model/version.ts';

/**
 * Up to 3.3 even a question for etcd's health was a request of its old API, and stands in the log. From 3.6 on etcd refuses
 * to read those, so they must be behind a snapshot by then; and a snapshot is made only every 100,000 entries. So whoever
 * comes to 3.5 makes them more often, until it leaves 3.5 for the next. As with the first cluster's list, an annotation
 * of the pod carries the number into the environment, where a change of the image is enough to change it.
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

/** What the annotation is to say from now on; nothing when it stays as it is. */
export function snapshotCountAfter({ from, to, raftIndex }: Move): string | undefined {
  const [before, after] = [parseVersion(from), parseVersion(to)];
  if (before === undefined || after === undefined || before.minor === after.minor) return undefined;
  if (after.minor !== 5) return '';
  return before.minor < 5 ? (raftIndex < 1000n ? '1' : '100') : undefined;
}
