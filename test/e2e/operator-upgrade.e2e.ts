import { expect } from 'vitest';
import { packageVersion } from '../../tools/bundle.ts';
import { fieldOf } from '../support/api.ts';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { podUidsAndRestarts } from '../support/served-certificates.ts';
import { type StoryContext, story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, rolledOut, waitFor } from '../support/waits.ts';

/** Sets another image on the Deployment, as an upgrade does, and waits until the new operator has taken over. */
async function replaceOperator({ kubectl }: Pick<StoryContext, 'kubectl'>, tag: string): Promise<void> {
  await kubectl(`set image deployment/etcd-operator etcd-operator=etcd-operator:${tag}`);
  await waitFor(kubectl, 'deployment/etcd-operator', inSeconds(120, rolledOut));
  await until(
    'the pod of the old operator is gone',
    async () => {
      const images = await fieldOf(kubectl, 'pods -l name=etcd-operator', '.spec.containers[0].image');
      return images === `etcd-operator:${tag}` || undefined;
    },
    { seconds: 90 },
  );
}

story.asOnTheLab(
  'an operator upgraded during a resize, a replacement or an etcd upgrade completes it',
  async (context) => {
    const { kubectl, step } = context;
    const db = declared(kubectl);
    const [first, second] = ['latest', await packageVersion()];
    await installOperator(context);
    await db.apply({ size: 1, version: '3.5.35' });
    await db.settled(1);
    await underTraffic(db, async () => {
      await step('operator upgrade during a resize', async () => {
        await kubectl('scale etcdcluster db --replicas=3');
        await until('the resize has begun', async () => (await db.members()).length > 1 || undefined);
        await replaceOperator(context, second);
        await db.settled(3);
      });
      await step('operator upgrade during the replacement of a member', async () => {
        const [victim = ''] = await db.podNames();
        await kubectl(`delete pod ${victim}`);
        await replaceOperator(context, first);
        await db.replaced(victim, 3);
      });
      const members = await db.ids();
      await step('operator upgrade during an etcd upgrade', async () => {
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.6.16"}}'`);
        await until('the etcd upgrade has begun', async () => {
          const images = await fieldOf(kubectl, 'pods -l etcd_cluster=db', '.spec.containers[0].image');
          return images.includes('v3.6.16') || undefined;
        });
        await replaceOperator(context, second);
        await waitFor(kubectl, 'etcdcluster/db', inSeconds(300, field('.status.currentVersion', '3.6.16')));
        await db.settled(3);
        expect(await db.ids()).toEqual(members);
      });
    });
    await step(
      'operator upgrade of a settled cluster: the pods are unchanged, and the new operator works',
      async () => {
        const before = await podUidsAndRestarts(kubectl);
        await replaceOperator(context, first);
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"paused":true}}'`);
        await waitFor(kubectl, 'etcdcluster/db', field('.status.controlPaused', true));
        expect(await podUidsAndRestarts(kubectl)).toBe(before);
      },
    );
  },
);
