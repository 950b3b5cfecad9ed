import type { ClusterDialect, Findings } from '../../src/apis/common/dialect.ts';
import type { ClusterWorld } from '../../src/core/cluster/model/cluster.ts';
import { planCluster } from '../../src/core/cluster/plan/plan-cluster.ts';
import { statusOf } from '../../src/core/cluster/status/cluster-status.ts';

/** The findings of a pass for a cluster of this API with this spec. */
export function findingsFor(dialect: ClusterDialect, spec: object): (world: ClusterWorld, now?: string) => Findings {
  const read = dialect.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { blueprint } = read.value;
  return (world, now = '2026-01-01T00:00:00Z') => ({
    status: statusOf(world, planCluster(world), undefined),
    blueprint: { ...blueprint, intent: world.intent },
    generation: 7,
    now: new Date(now),
  });
}
