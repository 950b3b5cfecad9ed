import { expect } from 'vitest';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { namesOf } from '../support/api.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { eventsSay } from '../support/events.ts';
import { installFor } from '../support/operator.ts';
import { type Story, story } from '../support/story.ts';
import { expectServed, served, underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { waitForDeletion } from '../support/waits.ts';

/** The oldest and the newest on the lab as well; whoever is in a hurry meets the oldest in the book. */
const onTheLab = new Map([
  ['3.1.10', story.inFull],
  ['3.7.3', story],
]);

for (const version of etcdVersions) {
  const tell = onTheLab.get(version) ?? story.onClusters;
  const title = `a cluster of etcd ${version} is created, grows, shrinks and heals`;
  tell(title, (told) => createScaleHeal(coreos, version, told));
}

/** Newer ones have stories of their own in this API. */
const [oldest] = etcdVersions;
story.asOnTheLab(`a cluster of etcd ${oldest} is created, grows, shrinks and heals, in the API of the talk`, (told) =>
  createScaleHeal(improbable, oldest, told),
);

/** What the status says of three members, and what is told of a member whose pod was deleted. */
const words = {
  coreos: {
    serves: { phase: 'Running', size: 3, serviceName: 'db-client', clientPort: 2379 },
    ofLoss: (victim: string) => `The dead member ${victim} is being replaced`,
    kept: [],
  },
  improbable: {
    serves: { replicas: 3, readyReplicas: 3, serviceName: 'db-client' },
    ofLoss: () => 'Created a new EtcdPeer with name "db-3"', // one that returns to its disk is no news
    kept: ['db-0', 'db-1', 'db-2'],
  },
} as const;

async function createScaleHeal(api: Api, version: string, told: Story): Promise<void> {
  const { kubectl, step, namespace } = told;
  const db = declaredIn(api)(kubectl);
  const { serves, ofLoss, kept } = words[api.name];
  await kubectl(`label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`);
  await installFor(api, told);
  await step('three members serve', async () => {
    await db.apply({ size: 3, version });
    await db.settled(3);
    expect(await db.status()).toMatchObject({ ...serves, [api.status.version]: version });
  });
  const experience = await underTraffic(
    db,
    async () => {
      await step('3 to 5', async () => {
        await kubectl(`scale ${db.resource} --replicas=5`);
        await db.settled(5);
      });
      await step('5 to 3', async () => {
        await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"${api.sizeField}":3}}'`);
        await db.settled(3);
        await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
      });
      await step('a deleted pod is replaced, or comes back to its disk', async () => {
        const [[victim = ''], before] = [await db.podNames(), await db.ids()];
        await kubectl(`delete pod ${victim}`);
        await db.healed(victim, 3);
        if (api.isNumbered) expect(await db.ids()).toEqual(before);
        else expect(await db.podNames()).not.toContain(victim);
        await eventsSay(kubectl, { name: 'db' }, [ofLoss(victim)]);
      });
    },
    { dense: true },
  );
  await step(`no write was lost: ${served(experience)}`, async () => {
    expectServed(experience);
  });
  await step('deleted, it leaves nothing but the disks that are to outlive it', async () => {
    await kubectl(`delete ${db.resource}`);
    for (const kind of ['pods', 'services', 'poddisruptionbudgets'])
      await waitForDeletion(kubectl, `${kind} -l ${db.label}`);
    const members = `persistentvolumeclaims -l ${db.label},${api.memberLabel}`;
    expect(await namesOf(kubectl, members)).toEqual(kept);
  });
}
