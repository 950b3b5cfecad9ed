import { expect } from 'vitest';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { namesOf } from '../support/api.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { eventsContain } from '../support/events.ts';
import { installFor } from '../support/operator.ts';
import { type StoryContext, story } from '../support/story.ts';
import { expectServed, served, underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { waitForDeletion } from '../support/waits.ts';

/** The oldest and the newest etcd run on the lab too. Short runs cover the oldest etcd with the story of the book. */
const onTheLab = new Map([
  ['3.1.10', story.inFull],
  ['3.7.3', story],
]);

for (const version of etcdVersions) {
  const declareStory = onTheLab.get(version) ?? story.onClusters;
  const title = `a cluster of etcd ${version} is created, scaled and healed`;
  declareStory(title, (context) => createScaleHeal(coreos, version, context));
}

/** Newer versions have separate stories in this API. */
const [oldest] = etcdVersions;
story.asOnTheLab(`a cluster of etcd ${oldest} is created, scaled and healed, in the improbable API`, (context) =>
  createScaleHeal(improbable, oldest, context),
);

/** The status of three members, and the Event after a pod was deleted. */
const expected = {
  coreos: {
    status: { phase: 'Running', size: 3, serviceName: 'db-client', clientPort: 2379 },
    eventAfterLoss: (victim: string) => `The dead member ${victim} is being replaced`,
    kept: [],
  },
  improbable: {
    status: { replicas: 3, readyReplicas: 3, serviceName: 'db-client' },
    eventAfterLoss: () => 'Created a new EtcdPeer with name "db-3"', // a pod that returns to its PVC has no Event
    kept: ['db-0', 'db-1', 'db-2'],
  },
} as const;

async function createScaleHeal(api: Api, version: string, context: StoryContext): Promise<void> {
  const { kubectl, step, namespace } = context;
  const db = declaredIn(api)(kubectl);
  const { status, eventAfterLoss, kept } = expected[api.name];
  await kubectl(`label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`);
  await installFor(api, context);
  await step('three members serve', async () => {
    await db.apply({ size: 3, version });
    await db.settled(3);
    expect(await db.status()).toMatchObject({ ...status, [api.status.version]: version });
  });
  const stats = await underTraffic(
    db,
    async () => {
      await step('scaled from 3 to 5', async () => {
        await kubectl(`scale ${db.resource} --replicas=5`);
        await db.settled(5);
      });
      await step('scaled from 5 to 3', async () => {
        await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"${api.sizeField}":3}}'`);
        await db.settled(3);
        await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
      });
      await step('a deleted pod is replaced, or returns to its PVC', async () => {
        const [[victim = ''], before] = [await db.podNames(), await db.ids()];
        await kubectl(`delete pod ${victim}`);
        await db.healed(victim, 3);
        if (api.isNumbered) expect(await db.ids()).toEqual(before);
        else expect(await db.podNames()).not.toContain(victim);
        await eventsContain(kubectl, { name: 'db' }, [eventAfterLoss(victim)]);
      });
    },
    { dense: true },
  );
  await step(`no write was lost: ${served(stats)}`, async () => {
    expectServed(stats);
  });
  await step('the deleted cluster leaves only the retained PVCs', async () => {
    await kubectl(`delete ${db.resource}`);
    for (const kind of ['pods', 'services', 'poddisruptionbudgets'])
      await waitForDeletion(kubectl, `${kind} -l ${db.label}`);
    const members = `persistentvolumeclaims -l ${db.label},${api.memberLabel}`;
    expect(await namesOf(kubectl, members)).toEqual(kept);
  });
}
