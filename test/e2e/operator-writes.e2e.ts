import { expect } from 'vitest';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { totalOf } from '../support/metrics.ts';
import { installFor } from '../support/operator.ts';
import { type StoryContext, story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { field, waitFor } from '../support/waits.ts';
import { writesOf } from '../support/writes.ts';

const peers = 'etcdpeers.etcd.improbable.io';
/** Each numbered member also has an EtcdPeer with a status, and a PVC with annotations. */
const most = { coreos: 15, improbable: 34 };

for (const api of [coreos, improbable])
  story.onOurCluster(
    `the operator makes few writes for a new cluster of the ${api.name} API, and none once it is settled`,
    (context) => writeLittle(api, context),
  );

async function writeLittle(api: Api, context: StoryContext): Promise<void> {
  const { kubectl, step, namespace, nodes } = context;
  const db = declaredIn(api)(kubectl);
  const writes = (): readonly string[] => writesOf(nodes.auditLog, namespace);
  await installFor(api, context);
  await step(`at most ${most[api.name]} writes for a new cluster of three`, async () => {
    await db.apply({ size: 3, version: '3.7.3', pod: podOf[api.name] });
    await db.settled(3);
    expect(writes().length, writes().join(', ')).toBeLessThanOrEqual(most[api.name]);
  });
  await step('no write for a settled cluster', async () => {
    if (api === improbable)
      // the status of EtcdPeers is written after the status of the cluster
      await waitFor(kubectl, `${peers} -l ${db.label}`, field('.status.healthy', true));
    const before = writes().length;
    await morePasses(kubectl, 2);
    expect(writes().slice(before)).toEqual([]);
  });
}

/** Waits until the operator has made this many more passes: there is no write to wait for. */
async function morePasses(kubectl: Kubectl, count: number): Promise<void> {
  const passes = (): Promise<number> => totalOf(kubectl, 'etcd_operator_cluster_reconcile_duration_count');
  const before = await passes();
  await until(`${count} more passes`, async () => (await passes()) >= before + count || undefined, { seconds: 120 });
}

/** All fields of an EtcdPeer: values normalized by the API server must not cause endless updates. */
const podOf: Readonly<Record<Api['name'], Readonly<Record<string, unknown>>>> = {
  coreos: {},
  improbable: {
    metadata: { labels: { team: 'storage' }, annotations: { 'prometheus.io/scrape': 'true' } },
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { cpu: 2, memory: '1024Mi' } },
    tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'etcd', effect: 'NoSchedule' }],
    topologySpreadConstraints: [
      {
        ...{ topologyKey: 'kubernetes.io/hostname', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' },
        labelSelector: { matchLabels: { 'etcd.improbable.io/cluster-name': 'db' } },
      },
    ],
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }],
  },
};
