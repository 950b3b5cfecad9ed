import { conditionOf, type EtcdCluster, isSettled, type MemberState, membersOf, servingOf } from './tale.ts';

/** All that the live view shows. */
export interface View {
  readonly clusters: readonly EtcdCluster[];
  /** etcd's revision of each cluster, where it is known. */
  readonly revisions: ReadonlyMap<string, string>;
  readonly hints: readonly string[];
  /** What happened, oldest first. */
  readonly lines: readonly string[];
}

/** The view as lines that fit a terminal; what happened last takes the room that is left. */
export function linesOf(view: View, { columns, rows }: { readonly columns: number; readonly rows: number }): string[] {
  const above = view.clusters.flatMap((cluster) => clusterLines(cluster, view.revisions.get(cluster.metadata.name)));
  const below = [...view.hints, 'Ctrl-C ends the lab; its state is kept.'];
  const room = Math.max(rows - above.length - below.length - 1, 1);
  const all = [...above, ...view.lines.slice(-room), ...below];
  return all.slice(0, rows - 1).map((line) => line.slice(0, columns));
}

function clusterLines(cluster: EtcdCluster, revision = '?'): readonly string[] {
  const { name } = cluster.metadata;
  return [
    `EtcdCluster ${name}: ${servingOf(cluster)}, revision ${revision}`,
    `  ${doingOf(cluster)}`,
    ...membersOf(cluster).map((member) => `  ${memberLine(member)}`),
    '',
  ];
}

/** What the operator is doing, and why. */
function doingOf(cluster: EtcdCluster): string {
  if (isSettled(cluster)) return 'healthy, as desired';
  const told = ['Degraded', 'Progressing']
    .map((type) => conditionOf(cluster, type))
    .find((condition) => condition?.status === 'True');
  return told === undefined ? 'the operator has not spoken yet' : `${told.reason}: ${told.message}`;
}

const memberLine = ({ name, healthy, leader, role, version = '' }: MemberState): string =>
  [healthy === true ? '●' : '○', name, version, leader === true ? 'leader' : role].join('  ');
