import { expect } from 'vitest';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { KilledOperator } from '../support/killed-operator.ts';
import { type StoryContext, story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.6.16';

const kindsOfSteps = [
  'record-bootstrap',
  'start-member-pod',
  'record-formation',
  'forbid-rebootstrap',
  'add-member',
  'promote-member',
  'remove-member',
  'delete-member-pod',
] as const;

for (const api of [coreos, improbable])
  story.onOurCluster(
    `an operator of the ${api.name} API that is killed at every step completes each change`,
    (context) => killAtEveryStep(api, context),
  );

async function killAtEveryStep(api: Api, context: StoryContext): Promise<void> {
  const { kubectl, step } = context;
  const db = declaredIn(api)(kubectl);
  const operator = new KilledOperator(context);
  try {
    await step('killed while it creates a cluster', async () => {
      await db.apply({ size: 3, version, durable: true });
      await db.settled(3, 240);
    });
    const { clusterId } = await db.status();
    await underTraffic(db, async () => {
      await step('killed while it scales up', async () => {
        await kubectl(`scale ${db.resource} --replicas=5`);
        await db.settled(5);
      });
      await step('killed while it replaces a member with a deleted PVC', async () => {
        const [[victim = ''], before] = [await db.podNames(), await db.ids()];
        await kubectl(`delete persistentvolumeclaim ${victim} --wait=false`);
        await kubectl(`delete pod ${victim}`);
        await db.renewed(before, 5);
      });
      await step('killed while it scales down', async () => {
        await kubectl(`scale ${db.resource} --replicas=3`);
        await db.settled(3);
      });
    });
    await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
    expect((await db.status())['clusterId']).toBe(clusterId);
    // The kill takes a moment. A step that begins and ends in that moment has escaped.
    const begun = [...operator.killedAt, ...operator.escaped];
    expect(begun).toEqual(expect.arrayContaining(kindsOfSteps.map((kind) => `taking step: ${kind}`)));
  } finally {
    await operator.end();
  }
}

story.onOurCluster(
  'an operator that is killed at every step of an upgrade on a real cluster completes the upgrade',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(coreos)(kubectl);
    const operator = new KilledOperator(context, (kind) => kind === 'change-image' || kind === 'transfer-leadership');
    try {
      await db.apply({ size: 3, version: '3.5.35' });
      await db.settled(3);
      const members = await db.ids();
      await underTraffic(db, async () => {
        await step('killed while it upgrades', async () => {
          await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"${version}"}}'`);
          await waitFor(kubectl, 'etcdcluster/db', inSeconds(300, field('.status.currentVersion', version)));
          await db.settled(3);
        });
      });
      expect(await db.ids()).toEqual(members);
      expect(operator.kinds).toContain('change-image');
    } finally {
      await operator.end();
    }
  },
);
