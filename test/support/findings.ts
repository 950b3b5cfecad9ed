import type { ClusterWorld } from '../../src/core/model/cluster.ts';
import { planCluster } from '../../src/core/plan/cluster/plan-cluster.ts';
import { statusOf } from '../../src/core/status/cluster-status.ts';
import type { ClusterDialect, Findings } from '../../src/dialects/dialect.ts';

/** What a pass finds of a cluster of this API, whose spec is as given here. */
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
