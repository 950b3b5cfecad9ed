import { expect } from 'vitest';
import { namesOf } from '../support/api.ts';
import { coreos, improbable } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { toldOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installForBoth } from '../support/operator.ts';
import { story } from '../support/story.ts';

const version = '3.6.16';

interface Taken {
  readonly rival: DeclaredCluster;
  readonly group: string;
}

/** That a cluster is told of the one that has its name, that nothing is made for it, and nothing of the other touched. */
async function isRefused(late: DeclaredCluster, { rival, group }: Taken, kubectl: Kubectl): Promise<void> {
  const before = [await rival.podNames(), await rival.ids()];
  await late.apply({ size: 3, version });
  await toldOf(late, `${late.name} is taken by an EtcdCluster of ${group} in this namespace`);
  await eventsSay(kubectl, { reason: 'BadSpec', name: late.name });
  for (const kind of ['pods', 'etcdpeers.etcd.improbable.io', 'persistentvolumeclaims', 'services'])
    expect(await namesOf(kubectl, `${kind} -l ${late.label}`)).toEqual([]);
  expect([await rival.podNames(), await rival.ids()]).toEqual(before);
}

story.asOnTheLab('one operator looks after clusters of both APIs, and a name is given away once', async (told) => {
  const { kubectl, step } = told;
  const one = declaredIn(coreos)(kubectl, 'one');
  const two = declaredIn(improbable)(kubectl, 'two');
  await installForBoth(told);
  await step('side by side in one namespace', async () => {
    await one.apply({ size: 1, version });
    await two.apply({ size: 1, version });
    await one.settled(1);
    await two.settled(1);
  });
  const late = { coreos: declaredIn(coreos)(kubectl, 'two'), improbable: declaredIn(improbable)(kubectl, 'one') };
  await step('a name that the other API uses is refused in either, and nothing is touched', async () => {
    await isRefused(late.improbable, { rival: one, group: 'etcd.database.coreos.com' }, kubectl);
    await isRefused(late.coreos, { rival: two, group: 'etcd.improbable.io' }, kubectl);
  });
  await step('when the first is gone, the second has the name', async () => {
    await kubectl(`delete ${one.resource} ${two.resource}`);
    await late.improbable.settled(3);
    await late.coreos.settled(3);
  });
});
