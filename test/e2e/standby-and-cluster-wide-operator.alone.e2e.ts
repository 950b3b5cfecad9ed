import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { requestsOf } from '../support/audit-log.ts';
import { declared, manifestOf } from '../support/cluster.ts';
import { installOperator, scaleOperator, underTest } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { field, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const deploy = (file: string): string => readFileSync(join(import.meta.dirname, '../../deploy/coreos', file), 'utf8');

story.onOurCluster('a standby operator takes over when the leader is killed', async (context) => {
  const { kubectl, step } = context;
  const db = declared(kubectl);
  await installOperator(context);
  await db.apply({ size: 3, version });
  await db.settled(3);
  await underTraffic(db, async () => {
    await step('a second operator runs as standby', async () => {
      await kubectl('scale deployment etcd-operator --replicas=2');
      await waitFor(kubectl, 'deployment/etcd-operator', field('.status.replicas', 2));
      await waitFor(kubectl, 'pods -l name=etcd-operator', field('.status.phase', 'Running'));
    });
    await step('the leader is force-deleted while it replaces a member, and the standby becomes leader', async () => {
      const leader = (): Promise<string> => fieldOf(kubectl, 'lease/etcd-operator', '.spec.holderIdentity');
      const [first, [victim = '']] = [await leader(), await db.podNames()];
      await kubectl(`delete pod ${victim} --wait=false`);
      await kubectl(`delete pod ${first} --grace-period=0 --force`);
      await until('another operator leads', async () => !['', first].includes(await leader()) || undefined);
      await db.voters(3);
      await db.settled(3);
    });
    await step('both operators are killed while a member is replaced', async () => {
      const [victim = ''] = await db.podNames();
      await kubectl(`delete pod ${victim} --wait=false`);
      await kubectl('delete pods -l name=etcd-operator --grace-period=0 --force');
      await db.voters(3);
      await scaleOperator(context, 1);
      await db.settled(3);
    });
  });
});

story.onOurCluster(
  'a cluster-wide operator manages annotated clusters of all namespaces, and no other cluster',
  async (context) => {
    const { kubectl, step, namespace, nodes } = context;
    const other = `${namespace.slice(0, 50)}-other`;
    const annotated = (name: string): string => {
      const manifest = JSON.parse(manifestOf(name, { size: 1, version })) as { metadata: object };
      return JSON.stringify({
        ...manifest,
        metadata: { name, annotations: { 'etcd.database.coreos.com/scope': 'clusterwide' } },
      });
    };
    try {
      await step('the operator is installed in its own namespace', async () => {
        for (const file of ['namespace.yaml', 'operator-roles.yaml'])
          await kubectl('apply -f -', { input: deploy(file) }, 'etcd-operator');
        await kubectl('apply -f -', { input: underTest(deploy('operator-deployment.yaml')) }, 'etcd-operator');
        await kubectl('rollout status deployment/etcd-operator --timeout=60s', {}, 'etcd-operator');
      });
      await step('clusters with the same name in two namespaces are served', async () => {
        await kubectl(`create namespace ${other}`);
        for (const target of [namespace, other]) {
          await kubectl('apply -f -', { input: annotated('db') }, target);
          await kubectl('wait etcdcluster/db --for=jsonpath={.status.readyMembers}=1 --timeout=60s', {}, target);
        }
      });
      await step('a cluster without the annotation is not served', async () => {
        await kubectl('apply -f -', { input: manifestOf('plain', { size: 1, version }) });
        await kubectl('apply -f -', { input: annotated('later') });
        await waitFor(kubectl, 'etcdcluster/later', field('.status.readyMembers', 1));
        expect(await fieldOf(kubectl, 'etcdcluster/plain', '.status')).toBe('');
      });
      await step('no request of the operator was refused', async () => {
        const requests = requestsOf(nodes.auditLog, 'etcd-operator:etcd-operator');
        expect(requests).not.toEqual([]);
        expect(requests.filter(({ isGranted }) => !isGranted)).toEqual([]);
      });
    } finally {
      await kubectl(`delete namespace ${other} etcd-operator --wait=false`, {}, 'default');
      await kubectl('delete clusterrole,clusterrolebinding etcd-operator --ignore-not-found', {}, 'default');
    }
  },
);
