import type { Agent } from '../../core/model/agent.ts';
import type { ClusterTemplate, ReadRestore } from '../../dialects/restore-dialect.ts';
import type { RestoreTools } from './sources.ts';

/** The cluster that is to be made, where one is; or a sentence that says why nothing is known of it. */
export function templateFor(
  { template, intent }: ReadRestore,
  proof: Agent | undefined,
  { clusters, dialect }: RestoreTools,
): ClusterTemplate | string | undefined {
  if (template !== 'in-backup') return template;
  if (proof?.state.is !== 'ended' || !proof.state.report.ok) return 'the backup has not been read yet';
  const { cluster } = proof.state.report.facts;
  if (cluster === undefined)
    return `nothing beside the backup says what its cluster was: ${dialect.describedByHand(intent.cluster)}`;
  const api = `${clusters.dialect.group}/${clusters.dialect.version}`;
  if (cluster.apiVersion !== api)
    return `the backup is of an EtcdCluster of ${cluster.apiVersion}, and this restore is of ${api}: ${dialect.describedByHand(intent.cluster)}`;
  const { paused: _, ...spec } = cluster.spec;
  return { spec };
}
