import { expect } from 'vitest';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { totalOf } from '../support/metrics.ts';
import { installFor } from '../support/operator.ts';
import { type Story, story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { field, waitFor } from '../support/waits.ts';
import { writesOf } from '../support/writes.ts';

const peers = 'etcdpeers.etcd.improbable.io';
/** Each numbered member also has a peer, which is told about, and a volume, which is marked. */
const most = { coreos: 15, improbable: 34 };

for (const api of [coreos, improbable])
  story.onOurCluster(`the operator writes little for ${api.name}, and nothing while all is well`, (told) =>
    writeLittle(api, told),
  );

async function writeLittle(api: Api, told: Story): Promise<void> {
  const { kubectl, step, namespace, nodes } = told;
  const db = declaredIn(api)(kubectl);
  const writes = (): readonly string[] => writesOf(nodes.auditLog, namespace);
  await installFor(api, told);
  await step(`${most[api.name]} writes for a new cluster of three, at the most`, async () => {
    await db.apply({ size: 3, version: '3.7.3', pod: podOf[api.name] });
    await db.settled(3);
    expect(writes().length, writes().join(', ')).toBeLessThanOrEqual(most[api.name]);
  });
  await step('none while it is settled', async () => {
    if (api === improbable)
      // peers are told of after their cluster
      await waitFor(kubectl, `${peers} -l ${db.label}`, field('.status.healthy', true));
    const before = writes().length;
    await morePasses(kubectl, 2);
    expect(writes().slice(before)).toEqual([]);
  });
}

/** Waits until the operator has made so many passes more, which is all that can be awaited when nothing must be written. */
async function morePasses(kubectl: Kubectl, count: number): Promise<void> {
  const passes = (): Promise<number> => totalOf(kubectl, 'etcd_operator_cluster_reconcile_duration_count');
  const before = await passes();
  await until(`${count} more passes`, async () => (await passes()) >= before + count || undefined, { seconds: 120 });
}

/** Where there are peers, all that may be in one: what the API server makes of it is not put right for ever. */
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
