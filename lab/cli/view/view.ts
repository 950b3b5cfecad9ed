import {
  clusterKey,
  conditionOf,
  type EtcdCluster,
  isNotable,
  isSettled,
  type MemberState,
  membersOf,
  summaryOf,
  titleOf,
} from './cluster-changes.ts';

/** The content of the live view. */
export interface View {
  readonly clusters: readonly EtcdCluster[];
  /** The etcd revision of each cluster by its key, if known. */
  readonly revisions: ReadonlyMap<string, string>;
  readonly hints: readonly string[];
  /** The reported lines, oldest first. */
  readonly lines: readonly string[];
}

/** The view as lines that fit the terminal. The latest reported lines fill the room that is left. */
export function linesOf(view: View, { columns, rows }: { readonly columns: number; readonly rows: number }): string[] {
  const above = view.clusters.flatMap((cluster) => clusterLines(cluster, view.revisions.get(clusterKey(cluster))));
  const below = [...view.hints.flatMap((hint) => folded(hint, columns)), 'Ctrl-C stops the lab. Its state is kept.'];
  const room = Math.max(rows - above.length - below.length - 1, 1);
  const all = [...above, ...view.lines.slice(-room), ...below];
  return all.slice(0, rows - 1).map((line) => line.slice(0, columns));
}

/** Folds a command that is wider than the terminal with a backslash, as a shell accepts it. */
function folded(line: string, columns: number): readonly string[] {
  if (line.length <= columns) return [line];
  const blank = lastBlank(line.slice(0, columns - 1));
  if (blank > indent.length)
    return [`${line.slice(0, blank)} \\`, ...folded(`${indent}${line.slice(blank + 1)}`, columns)];
  const width = Math.max(columns - 1, 1);
  return [`${line.slice(0, width)}\\`, ...folded(line.slice(width), columns)];
}

const indent = '    ';

/** The position of the last blank outside of quotes. */
function lastBlank(text: string): number {
  const isUnquoted = (index: number): boolean => text.slice(0, index).split("'").length % 2 === 1;
  let at = text.lastIndexOf(' ');
  while (at > 0 && !isUnquoted(at)) at = text.lastIndexOf(' ', at - 1);
  return at;
}

function clusterLines(cluster: EtcdCluster, revision = '?'): readonly string[] {
  return [
    `EtcdCluster ${titleOf(cluster)}: ${summaryOf(cluster)}, revision ${revision}`,
    `  ${activityOf(cluster)}`,
    ...membersOf(cluster).map((member) => `  ${memberLine(member)}`),
    '',
  ];
}

/** What the operator is doing, and why. */
function activityOf(cluster: EtcdCluster): string {
  if (isSettled(cluster)) return 'healthy';
  const condition = ['Degraded', 'Progressing'].map((type) => conditionOf(cluster, type)).find(isNotable);
  return condition === undefined ? 'waiting for the operator' : `${condition.reason}: ${condition.message}`;
}

const memberLine = ({ name, healthy, leader, role, version = '' }: MemberState): string =>
  [healthy === true ? '●' : '○', name, version, leader === true ? 'leader' : role].join('  ');
