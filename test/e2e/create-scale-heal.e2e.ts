import { expect } from 'vitest';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

/** The oldest and the newest on the lab as well, to see it soon. */
const onTheLab = new Set<string>(['3.1.10', '3.7.3']);

for (const version of etcdVersions) {
  const tell = onTheLab.has(version) ? story : story.onClusters;
  tell(`a cluster of etcd ${version} is created, grows, shrinks and heals`, async (told) => {
    const { kubectl, step, namespace } = told;
    const db = declared(kubectl);
    await kubectl(`label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`);
    await installOperator(told);
    await step('three members serve', async () => {
      await db.apply({ size: 3, version });
      await db.settled(3);
      expect(await db.status()).toMatchObject({
        phase: 'Running',
        size: 3,
        currentVersion: version,
        serviceName: 'db-client',
        clientPort: 2379,
      });
    });
    const { written, longestPause } = await underTraffic(db, async () => {
      await step('3 to 5', async () => {
        await kubectl('scale etcdcluster db --replicas=5');
        await db.settled(5);
      });
      await step('5 to 3', async () => {
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"size":3}}'`);
        await db.settled(3);
        await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
      });
      await step('a deleted pod is replaced', async () => {
        const [victim = ''] = await db.podNames();
        await kubectl(`delete pod ${victim}`);
        await db.replaced(victim, 3);
        expect(await db.podNames()).not.toContain(victim);
        const events = await kubectl(
          'get events --field-selector involvedObject.name=db -o jsonpath={.items[*].message}',
        );
        expect(events).toContain(`The dead member ${victim} is being replaced`);
      });
    });
    await step(`no write was lost: ${written} written, longest pause ${longestPause.toFixed(0)} ms`, async () => {
      expect(written).toBeGreaterThan(50);
    });
    await step('deleted, it leaves nothing', async () => {
      await kubectl('delete etcdcluster db');
      for (const kind of ['pods', 'services', 'poddisruptionbudgets']) {
        await kubectl(`wait ${kind} -l etcd_cluster=db --for=delete --timeout=60s`);
      }
    });
  });
}
