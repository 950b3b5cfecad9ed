import { expect } from 'vitest';
import { hexOf } from '../../src/etcd/types.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { installFor } from '../support/operator.ts';
import { type StoryContext, story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { created, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.6.16';

for (const api of [coreos, improbable]) {
  const declareStory = api === coreos ? story : story.inFull;
  declareStory(`deleted pods of the ${api.name} API return to their PVCs with the same member IDs`, (context) =>
    returnToVolumes(api, context),
  );
}

async function returnToVolumes(api: Api, context: StoryContext): Promise<void> {
  const { kubectl, step } = context;
  const db = declaredIn(api)(kubectl);
  await installFor(api, context);
  await step('three members with PVCs serve', async () => {
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
  await step('the member IDs are unchanged', async () => {
    const idsOf = (members: typeof before): readonly string[] => members.map(({ id }) => hexOf(id)).toSorted();
    expect(idsOf(await db.members())).toEqual(idsOf(before));
  });
}

inBothApis(story, 'a cluster of one member with a PVC survives the deletion of its pod', async (api, context) => {
  const { kubectl, step } = context;
  const db = declaredIn(api)(kubectl);
  await installFor(api, context);
  await db.apply({ size: 1, version, durable: true });
  await db.settled(1);
  await underTraffic(db, async () => {
    await step('the only pod is deleted, and returns to its PVC', async () => {
      const [only = ''] = await db.podNames();
      await kubectl(`delete pod ${only}`);
      await waitFor(kubectl, `pod/${only}`, inSeconds(30, created));
      await db.settled(1);
    });
  });
  await step('no PodDisruptionBudget blocks a drain of the node', async () => {
    expect(await kubectl('get poddisruptionbudgets -o name')).toBe('');
  });
});
