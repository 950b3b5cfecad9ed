import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { askedBy } from '../support/audit-log.ts';
import { declared, manifestOf } from '../support/cluster.ts';
import { installOperator, scaleOperator, underTest } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { field, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const deploy = (file: string): string => readFileSync(join(import.meta.dirname, '../../deploy/coreos', file), 'utf8');

story.onOurCluster('two operators stand side by side, and one takes over when the other is killed', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version });
  await db.settled(3);
  await underTraffic(db, async () => {
    await step('a second one waits for its turn', async () => {
      await kubectl('scale deployment etcd-operator --replicas=2');
      await waitFor(kubectl, 'deployment/etcd-operator', field('.status.replicas', 2));
      await waitFor(kubectl, 'pods -l name=etcd-operator', field('.status.phase', 'Running'));
    });
    await step(
      'who leads is killed without a warning while a member is being replaced, and another leads',
      async () => {
        const leader = (): Promise<string> => shown(kubectl, 'lease/etcd-operator', '.spec.holderIdentity');
        const [first, [victim = '']] = [await leader(), await db.podNames()];
        await kubectl(`delete pod ${victim} --wait=false`);
        await kubectl(`delete pod ${first} --grace-period=0 --force`);
        await until('another leads', async () => !['', first].includes(await leader()) || undefined);
        await db.voters(3);
        await db.settled(3);
      },
    );
    await step('both are killed, while a member is being replaced', async () => {
      const [victim = ''] = await db.podNames();
      await kubectl(`delete pod ${victim} --wait=false`);
      await kubectl('delete pods -l name=etcd-operator --grace-period=0 --force');
      await db.voters(3);
      await scaleOperator(told, 1);
      await db.settled(3);
    });
  });
});

story.onOurCluster(
  'one operator looks after the annotated clusters of all namespaces, and after no other',
  async (told) => {
    const { kubectl, step, namespace, nodes } = told;
    const other = `${namespace.slice(0, 50)}-other`;
    const annotated = (name: string): string => {
      const manifest = JSON.parse(manifestOf(name, { size: 1, version })) as { metadata: object };
      return JSON.stringify({
        ...manifest,
        metadata: { name, annotations: { 'etcd.database.coreos.com/scope': 'clusterwide' } },
      });
    };
    try {
      await step('it is installed in a namespace of its own', async () => {
        for (const file of ['namespace.yaml', 'operator-roles.yaml'])
          await kubectl('apply -f -', { input: deploy(file) }, 'etcd-operator');
        await kubectl('apply -f -', { input: underTest(deploy('operator-deployment.yaml')) }, 'etcd-operator');
        await kubectl('rollout status deployment/etcd-operator --timeout=60s', {}, 'etcd-operator');
      });
      await step('clusters of one name in two namespaces are both served', async () => {
        await kubectl(`create namespace ${other}`);
        for (const place of [namespace, other]) {
          await kubectl('apply -f -', { input: annotated('db') }, place);
          await kubectl('wait etcdcluster/db --for=jsonpath={.status.readyMembers}=1 --timeout=60s', {}, place);
        }
      });
      await step('one without the annotation is not', async () => {
        await kubectl('apply -f -', { input: manifestOf('plain', { size: 1, version }) });
        await kubectl('apply -f -', { input: annotated('later') });
        await waitFor(kubectl, 'etcdcluster/later', field('.status.readyMembers', 1));
        expect(await shown(kubectl, 'etcdcluster/plain', '.status')).toBe('');
      });
      await step('nothing that it asked for was refused', async () => {
        const asked = askedBy(nodes.auditLog, 'etcd-operator:etcd-operator');
        expect(asked).not.toEqual([]);
        expect(asked.filter(({ isGranted }) => !isGranted)).toEqual([]);
      });
    } finally {
      await kubectl(`delete namespace ${other} etcd-operator --wait=false`, {}, 'default');
      await kubectl('delete clusterrole,clusterrolebinding etcd-operator --ignore-not-found', {}, 'default');
    }
  },
);
