import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { ClusterObject } from '../../controllers/shared/context.ts';
import type { Stored } from '../../kube/object.ts';
import { done, failed } from '../../runtime/outcome.ts';
import { Store } from '../../runtime/store.ts';
import { Failure } from '../../std/failure.ts';
import { makeLog } from './log.ts';
import { clusterMetrics, passMetrics } from './metrics.ts';

const cluster = (resourceVersion: string, generation: number, phase?: string): Stored<ClusterObject> => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'db', namespace: 'default', uid: 'u', creationTimestamp: '', resourceVersion, generation },
  status: { phase },
});

describe('the metrics', () => {
  it("count clusters under the original's names", async () => {
    const register = new Registry();
    const store = new Store<ClusterObject>({ onHandlerFailure: (failure) => expect.unreachable(failure.message) });
    clusterMetrics(register)([store]);
    const lines = async (): Promise<string> => (await register.metrics()).replaceAll(/^#.*\n/gm, '');
    store.put(cluster('1', 1));
    store.put(cluster('2', 2));
    store.put(cluster('3', 2, 'Failed'));
    store.put(cluster('4', 2, 'Failed'));
    expect(await lines()).toContain('etcd_operator_controller_clusters 1\n');
    store.remove(cluster('5', 2));
    for (const line of [
      'clusters 0',
      'clusters_created 1',
      'clusters_modified 1',
      'clusters_failed 1',
      'clusters_deleted 1',
    ]) {
      expect(await lines()).toContain(`etcd_operator_controller_${line}\n`);
    }
  });

  it('measure the duration of successful reconciliations', async () => {
    const register = new Registry();
    passMetrics(register, makeLog('silent'))('default/db', done, 0.3);
    expect(await register.metrics()).toContain('etcd_operator_cluster_reconcile_duration_bucket{le="0.4"} 1');
  });

  it('count failed reconciliations by kind of failure, never by message', async () => {
    const register = new Registry();
    const onOutcome = passMetrics(register, makeLog('silent'));
    onOutcome('default/db', failed(new Failure('forbidden', 'quota exceeded for pod 4711')), 0.1);
    const text = await register.metrics();
    expect(text).toContain('etcd_operator_cluster_reconcile_failed{Reason="forbidden"} 1');
    expect(text).not.toContain('4711');
    expect(text).toContain('etcd_operator_cluster_reconcile_duration_count 0');
  });
});
