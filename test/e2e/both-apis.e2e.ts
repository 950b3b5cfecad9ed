import { expect } from 'vitest';
import { namesOf } from '../support/api.ts';
import { coreos, improbable } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { degradedWith } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installForBoth } from '../support/operator.ts';
import { story } from '../support/story.ts';

const version = '3.6.16';

interface NameConflict {
  readonly owner: DeclaredCluster;
  readonly group: string;
}

/** A cluster with a taken name gets an Event and a condition, and no objects. The owner of the name is unchanged. */
async function isRefused(late: DeclaredCluster, { owner, group }: NameConflict, kubectl: Kubectl): Promise<void> {
  const before = [await owner.podNames(), await owner.ids()];
  await late.apply({ size: 3, version });
  await degradedWith(late, `${late.name} is taken by an EtcdCluster of ${group} in this namespace`);
  await eventsContain(kubectl, { reason: 'BadSpec', name: late.name });
  for (const kind of ['pods', 'etcdpeers.etcd.improbable.io', 'persistentvolumeclaims', 'services'])
    expect(await namesOf(kubectl, `${kind} -l ${late.label}`)).toEqual([]);
  expect([await owner.podNames(), await owner.ids()]).toEqual(before);
}

story.asOnTheLab(
  'one operator manages clusters of both APIs, and refuses a name that the other API uses',
  async (context) => {
    const { kubectl, step } = context;
    const one = declaredIn(coreos)(kubectl, 'one');
    const two = declaredIn(improbable)(kubectl, 'two');
    await installForBoth(context);
    await step('one cluster of each API in one namespace', async () => {
      await one.apply({ size: 1, version });
      await two.apply({ size: 1, version });
      await one.settled(1);
      await two.settled(1);
    });
    const late = { coreos: declaredIn(coreos)(kubectl, 'two'), improbable: declaredIn(improbable)(kubectl, 'one') };
    await step('a name of the other API is refused, and the existing cluster is unchanged', async () => {
      await isRefused(late.improbable, { owner: one, group: 'etcd.database.coreos.com' }, kubectl);
      await isRefused(late.coreos, { owner: two, group: 'etcd.improbable.io' }, kubectl);
    });
    await step('after the first cluster is deleted, the second uses the name', async () => {
      await kubectl(`delete ${one.resource} ${two.resource}`);
      await late.improbable.settled(3);
      await late.coreos.settled(3);
    });
  },
);
