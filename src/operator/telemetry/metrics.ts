import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ClusterObject } from '../../controllers/shared/context.ts';
import type { Outcome } from '../../runtime/outcome.ts';
import type { Change, Store } from '../../runtime/store.ts';
import type { Log } from './log.ts';

/** Counts reconciliations under the original's metric names. The label Reason is the kind of failure. */
export function passMetrics(register: Registry, log: Log): (key: string, outcome: Outcome, seconds: number) => void {
  const took = new Histogram({
    name: 'etcd_operator_cluster_reconcile_duration',
    help: 'Duration of successful reconciliations, in seconds.',
    buckets: Array.from({ length: 10 }, (_, n) => 0.1 * 2 ** n),
    registers: [register],
  });
  const failures = new Counter({
    name: 'etcd_operator_cluster_reconcile_failed',
    help: 'Failed reconciliations, by kind of failure.',
    labelNames: ['Reason'],
    registers: [register],
  });
  return (key, outcome, seconds) => {
    if (outcome.is !== 'failed') return took.observe(seconds);
    failures.inc({ Reason: outcome.failure.kind });
    log.warn({ cluster: key, kind: outcome.failure.kind, failure: outcome.failure.message }, 'reconciliation failed');
  };
}

/** Counts clusters under the original's metric names. Call the result with the caches of each place. */
export function clusterMetrics(register: Registry): (declared: readonly Store<ClusterObject>[]) => void {
  const known: Store<ClusterObject>[] = [];
  const registers = [register];
  const name = 'etcd_operator_controller_clusters';
  void new Gauge({
    name,
    help: 'Number of clusters.',
    registers,
    collect() {
      this.set(known.reduce((sum, { size }) => sum + size, 0));
    },
  });
  const counter = (what: string, help: string): Counter => new Counter({ name: `${name}_${what}`, help, registers });
  const counters = {
    created: counter('created', 'Clusters that were created.'),
    modified: counter('modified', "Changes of a cluster's spec."),
    deleted: counter('deleted', 'Clusters that were deleted.'),
    failed: counter('failed', 'Changes of a cluster to the phase Failed.'),
  };
  return (declared) => {
    known.push(...declared);
    for (const clusters of declared) {
      clusters.onChange((change) => {
        for (const what of countersOf(change)) counters[what].inc();
      });
    }
  };
}

function countersOf({
  type,
  object,
  old,
}: Change<ClusterObject>): readonly ('created' | 'modified' | 'deleted' | 'failed')[] {
  if (type === 'added') return ['created'];
  if (type === 'deleted') return ['deleted'];
  const hasFailed = phaseOf(object) === 'Failed' && phaseOf(old) !== 'Failed';
  const isModified = object.metadata.generation !== old.metadata.generation;
  return [...(isModified ? ['modified' as const] : []), ...(hasFailed ? ['failed' as const] : [])];
}

const phaseOf = ({ status }: ClusterObject): unknown => (status as { readonly phase?: unknown } | undefined)?.phase;
