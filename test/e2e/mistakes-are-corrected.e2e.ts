import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { type DeclaredCluster, declared } from '../support/cluster.ts';
import { conditionOf, toldOf } from '../support/conditions.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const nowhere = 'nowhere.example/nothing';
/** A member that is out of reach for so long is replaced, unless it is the change that keeps it away. */
const patience = 5;

const outlasting = (db: DeclaredCluster): Promise<true> =>
  until('longer than a member is waited for', async () => {
    const told = (await conditionOf(db, 'Degraded')) as { status: string; lastTransitionTime?: string } | undefined;
    const since = Date.parse(told?.status === 'True' ? (told.lastTransitionTime ?? '') : '');
    return Date.now() - since > 3 * patience * 1000 || undefined;
  });

story.asOnTheLab('an image that is looked for in the wrong place costs nobody their place or disk', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version, durable: true, extra: { replaceMemberAfterSeconds: patience } });
  await db.settled(3);
  const members = await db.ids();
  await underTraffic(db, async () => {
    await step('one member stops, and all else with it', async () => {
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"repository":"${nowhere}"}}'`);
      await toldOf(db, 'cannot start', 60);
      await outlasting(db);
      expect(await db.ids()).toEqual(members);
      const images = await shown(kubectl, 'pods -l etcd_cluster=db', '.spec.containers[0].image');
      expect(images.split(' ').filter((image) => image.startsWith(nowhere))).toHaveLength(1);
    });
    await step('corrected, it comes back', async () => {
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"repository":null}}'`);
      await waitFor(kubectl, 'etcdcluster/db', condition('Degraded', 'False'));
      await db.settled(3);
      expect(await db.ids()).toEqual(members);
    });
  });
});

story.asOnTheLab(
  'an only member that waits for an init container is told, and helped by correcting it',
  async (told) => {
    const { kubectl, step } = told;
    const db = declared(kubectl);
    await installOperator(told);
    await db.apply({ size: 1, version, durable: true });
    await db.settled(1);
    const members = await db.ids();
    await step('an image that nobody has', async () => {
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"pod":{"busyboxImage":"${nowhere}:1"}}}'`);
      expect((await toldOf(db, 'init container', 60)).message).toContain('check-dns');
    });
    await step('corrected, it is back with its data', async () => {
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"pod":{"busyboxImage":null}}}'`);
      await waitFor(kubectl, 'etcdcluster/db', condition('Degraded', 'False'));
      await db.settled(1);
      expect(await db.ids()).toEqual(members);
    });
  },
);
