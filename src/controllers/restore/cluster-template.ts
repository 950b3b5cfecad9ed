import type { ClusterTemplate, ReadRestore } from '../../apis/common/restore-dialect.ts';
import type { Agent } from '../../core/backup/agent.ts';
import type { RestoreContext } from './context.ts';

/** The template of the cluster to create; undefined if none is created; a message if the template is unknown. */
export function templateFor(
  { template, intent }: ReadRestore,
  proof: Agent | undefined,
  { clusters, dialect }: RestoreContext,
): ClusterTemplate | string | undefined {
  if (template !== 'in-backup') return template;
  if (proof?.state.is !== 'ended' || !proof.state.report.ok) return 'the backup has not been read yet';
  const { cluster } = proof.state.report.facts;
  if (cluster === undefined)
    return `the manifest of the backup has no cluster spec: ${dialect.manualRestoreHint(intent.cluster)}`;
  const api = `${clusters.dialect.group}/${clusters.dialect.version}`;
  if (cluster.apiVersion !== api)
    return `the backup is of an EtcdCluster of ${cluster.apiVersion}, but this restore is of ${api}: ${dialect.manualRestoreHint(intent.cluster)}`;
  const { paused: _, ...spec } = cluster.spec;
  return { spec };
}
