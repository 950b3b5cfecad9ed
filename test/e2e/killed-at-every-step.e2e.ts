import { expect } from 'vitest';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { Mortal } from '../support/mortal.ts';
import { type Story, story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.6.16';

const kindsOfSteps = [
  'remember-bootstrap',
  'start-carrier',
  'remember-formation',
  'seal-carrier',
  'add-member',
  'promote-member',
  'remove-member',
  'discard-carrier',
] as const;

for (const api of [coreos, improbable])
  story.onOurCluster(`an operator of ${api.name} that is killed at every step goes on where it was`, (told) =>
    killAtEveryStep(api, told),
  );

async function killAtEveryStep(api: Api, told: Story): Promise<void> {
  const { kubectl, step } = told;
  const db = declaredIn(api)(kubectl);
  const operator = new Mortal(told);
  try {
    await step('while it creates', async () => {
      await db.apply({ size: 3, version, durable: true });
      await db.settled(3, 240);
    });
    const { clusterId } = await db.status();
    await underTraffic(db, async () => {
      await step('while it grows', async () => {
        await kubectl(`scale ${db.resource} --replicas=5`);
        await db.settled(5);
      });
      await step('while it replaces a lost disk', async () => {
        const [[victim = ''], before] = [await db.podNames(), await db.ids()];
        await kubectl(`delete persistentvolumeclaim ${victim} --wait=false`);
        await kubectl(`delete pod ${victim}`);
        await db.renewed(before, 5);
      });
      await step('while it shrinks', async () => {
        await kubectl(`scale ${db.resource} --replicas=3`);
        await db.settled(3);
      });
    });
    await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
    expect((await db.status())['clusterId']).toBe(clusterId);
    // The kill takes a moment, in which the operator may begin and finish the next step: that one has escaped.
    const begun = [...operator.deaths, ...operator.escaped];
    expect(begun).toEqual(expect.arrayContaining(kindsOfSteps.map((kind) => `taking step: ${kind}`)));
  } finally {
    await operator.end();
  }
}

story.onOurCluster(
  'an operator that is killed at every step of an upgrade on a cluster goes on where it was',
  async (told) => {
    const { kubectl, step } = told;
    const db = declaredIn(coreos)(kubectl);
    const operator = new Mortal(told, (kind) => kind === 'change-image' || kind === 'move-leader');
    try {
      await db.apply({ size: 3, version: '3.5.35' });
      await db.settled(3);
      const members = await db.ids();
      await underTraffic(db, async () => {
        await step('while it upgrades', async () => {
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
