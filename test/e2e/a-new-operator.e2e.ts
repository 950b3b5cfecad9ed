import { expect } from 'vitest';
import { packageVersion } from '../../tools/bundle.ts';
import { shown } from '../support/api.ts';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { bodiesOf } from '../support/shown.ts';
import { type Story, story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, rolledOut, waitFor } from '../support/waits.ts';

/** Has the Deployment go to another image, as one does who installs a new version, and waits until that has taken over. */
async function replaceOperator({ kubectl }: Pick<Story, 'kubectl'>, tag: string): Promise<void> {
  await kubectl(`set image deployment/etcd-operator etcd-operator=etcd-operator:${tag}`);
  await waitFor(kubectl, 'deployment/etcd-operator', inSeconds(120, rolledOut));
  await until(
    'the old one is gone',
    async () => {
      const images = await shown(kubectl, 'pods -l name=etcd-operator', '.spec.containers[0].image');
      return images === `etcd-operator:${tag}` || undefined;
    },
    { seconds: 90 },
  );
}

story.asOnTheLab('a new operator takes over in the middle of a resize, a heal and an upgrade', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  const [first, second] = ['latest', await packageVersion()];
  await installOperator(told);
  await db.apply({ size: 1, version: '3.5.35' });
  await db.settled(1);
  await underTraffic(db, async () => {
    await step('of a resize', async () => {
      await kubectl('scale etcdcluster db --replicas=3');
      await until('it has begun', async () => (await db.members()).length > 1 || undefined);
      await replaceOperator(told, second);
      await db.settled(3);
    });
    await step('of a heal', async () => {
      const [victim = ''] = await db.podNames();
      await kubectl(`delete pod ${victim}`);
      await replaceOperator(told, first);
      await db.replaced(victim, 3);
    });
    const members = await db.ids();
    await step('of an upgrade', async () => {
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.6.16"}}'`);
      await until('it has begun', async () => {
        const images = await shown(kubectl, 'pods -l etcd_cluster=db', '.spec.containers[0].image');
        return images.includes('v3.6.16') || undefined;
      });
      await replaceOperator(told, second);
      await waitFor(kubectl, 'etcdcluster/db', inSeconds(300, field('.status.currentVersion', '3.6.16')));
      await db.settled(3);
      expect(await db.ids()).toEqual(members);
    });
  });
  await step('of nothing: members are as they were, and the new one is at work', async () => {
    const before = await bodiesOf(kubectl);
    await replaceOperator(told, first);
    await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"paused":true}}'`);
    await waitFor(kubectl, 'etcdcluster/db', field('.status.controlPaused', true));
    expect(await bodiesOf(kubectl)).toBe(before);
  });
});
