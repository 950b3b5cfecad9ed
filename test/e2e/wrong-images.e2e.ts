import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { type DeclaredCluster, declared } from '../support/cluster.ts';
import { conditionOf, degradedWith } from '../support/conditions.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const nowhere = 'nowhere.example/nothing';
/**
 * An unreachable member is replaced after this time, unless a change of the spec keeps it from starting. A corrected
 * pod starts within this time, also on a slow machine.
 */
const replaceAfterSeconds = 12;

const degradedForLong = (db: DeclaredCluster): Promise<true> =>
  until('Degraded for twice replaceMemberAfterSeconds', async () => {
    const degraded = (await conditionOf(db, 'Degraded')) as { status: string; lastTransitionTime?: string } | undefined;
    const since = Date.parse(degraded?.status === 'True' ? (degraded.lastTransitionTime ?? '') : '');
    return Date.now() - since > 2 * replaceAfterSeconds * 1000 || undefined;
  });

story.asOnTheLab(
  'a wrong image repository stops the roll at one member, and no member or PVC is replaced',
  async (context) => {
    const { kubectl, step } = context;
    const db = declared(kubectl);
    await installOperator(context);
    await db.apply({ size: 3, version, durable: true, extra: { replaceMemberAfterSeconds: replaceAfterSeconds } });
    await db.settled(3);
    const members = await db.ids();
    await underTraffic(db, async () => {
      await step('one pod cannot start, and no other pod is changed', async () => {
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"repository":"${nowhere}"}}'`);
        await degradedWith(db, 'cannot start', 60);
        await degradedForLong(db);
        expect(await db.ids()).toEqual(members);
        const images = await fieldOf(kubectl, 'pods -l etcd_cluster=db', '.spec.containers[0].image');
        expect(images.split(' ').filter((image) => image.startsWith(nowhere))).toHaveLength(1);
      });
      await step('after the correction the same member returns', async () => {
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"repository":null}}'`);
        await waitFor(kubectl, 'etcdcluster/db', condition('Degraded', 'False'));
        await db.settled(3);
        expect(await db.ids()).toEqual(members);
      });
    });
  },
);

story.asOnTheLab(
  'a failing init container of the only member is reported, and a corrected image recovers it',
  async (context) => {
    const { kubectl, step } = context;
    const db = declared(kubectl);
    await installOperator(context);
    await db.apply({ size: 1, version, durable: true });
    await db.settled(1);
    const members = await db.ids();
    await step('the init container has a missing image', async () => {
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"pod":{"busyboxImage":"${nowhere}:1"}}}'`);
      expect((await degradedWith(db, 'init container', 60)).message).toContain('check-dns');
    });
    await step('after the correction the same member returns', async () => {
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"pod":{"busyboxImage":null}}}'`);
      await waitFor(kubectl, 'etcdcluster/db', condition('Degraded', 'False'));
      await db.settled(1);
      expect(await db.ids()).toEqual(members);
    });
  },
);
