import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { startOutside } from '../support/outside.ts';
import { story } from '../support/story.ts';
import { withCertificates } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.6.16';

story.onOurCluster('an operator outside the cluster looks after it through port-forwards', async (told) => {
  const { kubectl, step, namespace, nodes } = told;
  const db = declared(kubectl);
  await using operator = await startOutside(nodes.cluster, namespace);
  await step('three members serve', async () => {
    await db.apply({ size: 3, version });
    await db.settled(3);
  });
  await step('pods were out of its reach, which it found out by itself', async () => {
    expect(operator.log()).toContain("pods' addresses lead nowhere from here");
  });
  await underTraffic(db, async () => {
    await step('3 to 5', async () => {
      await kubectl('scale etcdcluster db --replicas=5');
      await db.settled(5);
    });
    await step('a deleted pod is replaced', async () => {
      const [victim = ''] = await db.podNames();
      await kubectl(`delete pod ${victim}`);
      await db.replaced(victim, 5);
    });
  });
  await step('certificates are checked at the far end', async () => {
    await withCertificates(kubectl, { name: 'safe', namespace, size: 1, version });
    await waitFor(kubectl, 'etcdcluster/safe', inSeconds(90, field('.status.readyMembers', 1)));
  });
  await step('it lets go of the pods that are gone', async () => {
    await kubectl('delete etcdcluster db safe');
    await waitForDeletion(kubectl, 'pods -l app=etcd');
    await until('only its own connection is left', async () => (await operator.connections()) <= 1 || undefined);
  });
  expect(operator.ended(), operator.log()).toBeUndefined();
});
