import { expect } from 'vitest';
import { hexOf } from '../../src/etcd/words.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { installFor } from '../support/operator.ts';
import { type Story, story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { created, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.6.16';

for (const api of [coreos, improbable]) {
  const tell = api === coreos ? story : story.inFull;
  tell(`members of ${api.name} return to their own disks, one of them or all`, (told) => returnToDisks(api, told));
}

async function returnToDisks(api: Api, told: Story): Promise<void> {
  const { kubectl, step } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
  await step('three members with disks', async () => {
    await db.apply({ size: 3, version, durable: true });
    await db.settled(3);
  });
  const before = await db.members();
  await underTraffic(db, async () => {
    await step('one pod is deleted', async () => {
      const [victim = ''] = await db.podNames();
      await kubectl(`delete pod ${victim}`);
      await waitFor(kubectl, `pod/${victim}`, inSeconds(30, created));
      await db.settled(3);
    });
  });
  await underTraffic(db, async () => {
    await step('all pods are deleted at once', async () => {
      await kubectl(`delete pods -l ${db.label}`);
      await db.settled(3);
    });
  });
  await step('they are the same members', async () => {
    const idsOf = (members: typeof before): readonly string[] => members.map(({ id }) => hexOf(id)).toSorted();
    expect(idsOf(await db.members())).toEqual(idsOf(before));
  });
}

inBothApis(story, 'a cluster of one survives the loss of its pod', async (api, told) => {
  const { kubectl, step } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
  await db.apply({ size: 1, version, durable: true });
  await db.settled(1);
  await underTraffic(db, async () => {
    await step('its pod is deleted', async () => {
      const [only = ''] = await db.podNames();
      await kubectl(`delete pod ${only}`);
      await waitFor(kubectl, `pod/${only}`, inSeconds(30, created));
      await db.settled(1);
    });
  });
  await step('there is no budget that would keep its node from being drained', async () => {
    expect(await kubectl('get poddisruptionbudgets -o name')).toBe('');
  });
});
