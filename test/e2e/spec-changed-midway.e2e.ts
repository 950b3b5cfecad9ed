import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { coreos } from '../support/apis.ts';
import { inBothApis } from '../support/both-apis.ts';
import { type DeclaredCluster, declared, declaredIn } from '../support/cluster.ts';
import { conditionOf, degradedWith } from '../support/conditions.ts';
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

const setVersion = (kubectl: Kubectl, version: string): Promise<string> =>
  kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"${version}"}}'`);

async function upgradedTo(kubectl: Kubectl, db: DeclaredCluster, version: string): Promise<void> {
  await waitFor(kubectl, 'etcdcluster/db', inSeconds(120, field('.status.currentVersion', version)));
  await db.settled(3);
  const versions = await until('all members answer', () => versionsOf(db));
  expect(new Set(versions)).toEqual(new Set([version]));
}

/** etcd 3.4 supports this logger; 3.5 and later exit at once with it. */
const oldLogger = [{ name: 'ETCD_LOGGER', value: 'capnslog' }];

story.asOnTheLab(
  'an upgrade stops at the first member if the new etcd exits, and the status quotes the error',
  async (context) => {
    const { kubectl, step } = context;
    const db = declared(kubectl);
    await installOperator(context);
    await db.apply({
      ...{ size: 3, version: '3.4.31', durable: true, pod: { etcdEnv: oldLogger } },
      extra: { replaceMemberAfterSeconds: 5 },
    });
    await db.settled(3);
    const members = await db.ids();
    const restarts = async (): Promise<readonly number[]> =>
      (await fieldOf(kubectl, `pods -l ${db.label}`, '.status.containerStatuses[0].restartCount'))
        .split(' ')
        .map(Number);
    await underTraffic(db, async () => {
      await step('the status quotes the etcd error, and the other members are unchanged', async () => {
        await setVersion(kubectl, '3.5.35');
        await degradedWith(db, 'ended with 1 failed to verify flags: --logger=capnslog', 60);
        await until(
          'the container was restarted more than once',
          async () => Math.max(...(await restarts())) > 1 || undefined,
        );
        expect((await restarts()).filter((each) => each > 0)).toHaveLength(1);
        expect(await db.ids()).toEqual(members);
        expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });
        const images = await fieldOf(kubectl, `pods -l ${db.label}`, '.spec.containers[0].image');
        expect(images.split(' ').filter((image) => image.endsWith(':v3.5.35'))).toHaveLength(1);
      });
      await step('the version is set back, and the member recovers', async () => {
        await setVersion(kubectl, '3.4.31');
        await waitFor(kubectl, 'etcdcluster/db', condition('Degraded', 'False'));
        await upgradedTo(kubectl, db, '3.4.31');
      });
      await step('without the bad variable the upgrade completes', async () => {
        const spec = { version: '3.5.35', pod: { etcdEnv: [] } };
        await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec })}'`);
        await upgradedTo(kubectl, db, '3.5.35');
        expect(await db.ids()).toEqual(members);
      });
    });
  },
);

story.asOnTheLab('an upgrade ends at the new version if its target is changed midway', async (context) => {
  const { kubectl, step } = context;
  const db = declared(kubectl);
  await installOperator(context);
  await db.apply({ size: 3, version: '3.4.31' });
  await db.settled(3);
  const members = await db.ids();
  await underTraffic(db, async () => {
    await step('one member runs the first target version', async () => {
      await setVersion(kubectl, '3.5.21');
      await until('a member of version 3.5.21', async () => (await versionsOf(db)).includes('3.5.21') || undefined);
    });
    await step('the target is changed, and all members run the new version', async () => {
      await setVersion(kubectl, '3.6.16');
      await upgradedTo(kubectl, db, '3.6.16');
      expect(await db.ids()).toEqual(members);
    });
  });
});

inBothApis(
  story.asOnTheLab,
  'one edit corrects the version and enlarges storage before the cluster has bootstrapped',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    const claim = (storage: string): Readonly<Record<string, unknown>> => {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } };
      return api === coreos
        ? { pod: { persistentVolumeClaimSpec: spec } }
        : { extra: { storage: { volumeClaimTemplate: spec } } };
    };
    await installFor(api, context);
    await step('a version with a typo is reported', async () => {
      await db.apply({ size: 3, version: '3.6.1616', ...claim('256Mi') });
      await degradedWith(db, 'cannot start', 60);
    });
    await step('after the edit the cluster serves on volumes of the new size', async () => {
      await db.apply({ size: 3, version: '3.6.16', ...claim('384Mi') });
      await db.settled(3);
      await waitFor(kubectl, db.resource, condition('Degraded', 'False'));
      await until('all PVCs have the new size', async () => {
        const sizes = await fieldOf(
          kubectl,
          `persistentvolumeclaims -l ${db.label},${api.memberLabel}`,
          '.status.capacity.storage',
        );
        return sizes === '384Mi 384Mi 384Mi' || undefined;
      });
      await db.settled(3);
    });
  },
);
