import {
  clusterKey,
  conditionOf,
  type EtcdCluster,
  isSettled,
  isWorthSaying,
  type MemberState,
  membersOf,
  servingOf,
  titleOf,
} from './tale.ts';

/** All that the live view shows. */
export interface View {
  readonly clusters: readonly EtcdCluster[];
  /** etcd's revision of each cluster, where it is known, by the cluster's key. */
  readonly revisions: ReadonlyMap<string, string>;
  readonly hints: readonly string[];
  /** What happened, oldest first. */
  readonly lines: readonly string[];
}

/** The view as lines that fit a terminal; what happened last takes the room that is left. */
export function linesOf(view: View, { columns, rows }: { readonly columns: number; readonly rows: number }): string[] {
  const above = view.clusters.flatMap((cluster) => clusterLines(cluster, view.revisions.get(clusterKey(cluster))));
  const below = [...view.hints.flatMap((hint) => folded(hint, columns)), 'Ctrl-C ends the lab; its state is kept.'];
  const room = Math.max(rows - above.length - below.length - 1, 1);
  const all = [...above, ...view.lines.slice(-room), ...below];
  return all.slice(0, rows - 1).map((line) => line.slice(0, columns));
}

/** A command that is wider than the terminal goes on in the next line, in a way that a shell understands. */
function folded(line: string, columns: number): readonly string[] {
  if (line.length <= columns) return [line];
  const blank = lastBlank(line.slice(0, columns - 1));
  if (blank > indent.length)
    return [`${line.slice(0, blank)} \\`, ...folded(`${indent}${line.slice(blank + 1)}`, columns)];
  const width = Math.max(columns - 1, 1);
  return [`${line.slice(0, width)}\\`, ...folded(line.slice(width), columns)];
}

const indent = '    ';

/** The last blank that is not inside quotes. */
function lastBlank(text: string): number {
  const isOutside = (index: number): boolean => text.slice(0, index).split("'").length % 2 === 1;
  let at = text.lastIndexOf(' ');
  while (at > 0 && !isOutside(at)) at = text.lastIndexOf(' ', at - 1);
  return at;
}

function clusterLines(cluster: EtcdCluster, revision = '?'): readonly string[] {
  return [
    `EtcdCluster ${titleOf(cluster)}: ${servingOf(cluster)}, revision ${revision}`,
    `  ${doingOf(cluster)}`,
    ...membersOf(cluster).map((member) => `  ${memberLine(member)}`),
    '',
  ];
}

/** What the operator is doing, and why. */
function doingOf(cluster: EtcdCluster): string {
  if (isSettled(cluster)) return 'healthy, as desired';
  const told = ['Degraded', 'Progressing'].map((type) => conditionOf(cluster, type)).find(isWorthSaying);
  return told === undefined ? 'the operator has not spoken yet' : `${told.reason}: ${told.message}`;
}

const memberLine = ({ name, healthy, leader, role, version = '' }: MemberState): string =>
  [healthy === true ? '●' : '○', name, version, leader === true ? 'leader' : role].join('  ');
