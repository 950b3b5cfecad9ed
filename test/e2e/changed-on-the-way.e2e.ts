import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { coreos } from '../support/apis.ts';
import { inBothApis } from '../support/both-apis.ts';
import { type DeclaredCluster, declared, declaredIn } from '../support/cluster.ts';
import { conditionOf, toldOf } from '../support/conditions.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor, installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, field, inSeconds, waitFor } from '../support/waits.ts';

const versionsOf = (db: DeclaredCluster): Promise<readonly string[]> =>
  db.withMembers(async (members) =>
    (await Promise.all(members.map((each) => each.status()))).map((each) => each.version),
  );

const wish = (kubectl: Kubectl, version: string): Promise<string> =>
  kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"${version}"}}'`);

async function arrived(kubectl: Kubectl, db: DeclaredCluster, version: string): Promise<void> {
  await waitFor(kubectl, 'etcdcluster/db', inSeconds(120, field('.status.currentVersion', version)));
  await db.settled(3);
  const versions = await until('all answer', () => versionsOf(db));
  expect(new Set(versions)).toEqual(new Set([version]));
}

/** etcd 3.4 can log with it; 3.5 and later end at once when they are told to. */
const oldLogger = [{ name: 'ETCD_LOGGER', value: 'capnslog' }];

story.asOnTheLab('an upgrade to an etcd that ends at once stops at its first member, and says why', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({
    ...{ size: 3, version: '3.4.31', durable: true, pod: { etcdEnv: oldLogger } },
    extra: { replaceMemberAfterSeconds: 5 },
  });
  await db.settled(3);
  const members = await db.ids();
  const restarts = async (): Promise<readonly number[]> =>
    (await shown(kubectl, `pods -l ${db.label}`, '.status.containerStatuses[0].restartCount')).split(' ').map(Number);
  await underTraffic(db, async () => {
    await step('it is told in etcd’s own words, and the others are as they were', async () => {
      await wish(kubectl, '3.5.35');
      await toldOf(db, 'ended with 1 failed to verify flags: --logger=capnslog', 60);
      await until('it has been tried again and again', async () => Math.max(...(await restarts())) > 1 || undefined);
      expect((await restarts()).filter((each) => each > 0)).toHaveLength(1);
      expect(await db.ids()).toEqual(members);
      expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });
      const images = await shown(kubectl, `pods -l ${db.label}`, '.spec.containers[0].image');
      expect(images.split(' ').filter((image) => image.endsWith(':v3.5.35'))).toHaveLength(1);
    });
    await step('back', async () => {
      await wish(kubectl, '3.4.31');
      await waitFor(kubectl, 'etcdcluster/db', condition('Degraded', 'False'));
      await arrived(kubectl, db, '3.4.31');
    });
    await step('and on, with what it ended for taken away', async () => {
      const spec = { version: '3.5.35', pod: { etcdEnv: [] } };
      await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec })}'`);
      await arrived(kubectl, db, '3.5.35');
      expect(await db.ids()).toEqual(members);
    });
  });
});

story.asOnTheLab('a newer version that is named midway through an upgrade is where it ends', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version: '3.4.31' });
  await db.settled(3);
  const members = await db.ids();
  await underTraffic(db, async () => {
    await step('one member runs what was asked for first', async () => {
      await wish(kubectl, '3.5.21');
      await until('the first', async () => (await versionsOf(db)).includes('3.5.21') || undefined);
    });
    await step('another is asked for', async () => {
      await wish(kubectl, '3.6.16');
      await arrived(kubectl, db, '3.6.16');
      expect(await db.ids()).toEqual(members);
    });
  });
});

inBothApis(
  story.asOnTheLab,
  'a version is corrected and more storage asked for in one edit, before there was a first quorum',
  async (api, told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    const claim = (storage: string): Readonly<Record<string, unknown>> => {
      const asked = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } };
      return api === coreos
        ? { pod: { persistentVolumeClaimSpec: asked } }
        : { extra: { storage: { volumeClaimTemplate: asked } } };
    };
    await installFor(api, told);
    await step('a typo', async () => {
      await db.apply({ size: 3, version: '3.6.1616', ...claim('256Mi') });
      await toldOf(db, 'cannot start', 60);
    });
    await step('one edit, and it serves on volumes of the new size', async () => {
      await db.apply({ size: 3, version: '3.6.16', ...claim('384Mi') });
      await db.settled(3);
      await waitFor(kubectl, db.resource, condition('Degraded', 'False'));
      await until('all have it', async () => {
        const given = await shown(
          kubectl,
          `persistentvolumeclaims -l ${db.label},${api.memberLabel}`,
          '.status.capacity.storage',
        );
        return given === '384Mi 384Mi 384Mi' || undefined;
      });
      await db.settled(3);
    });
  },
);
