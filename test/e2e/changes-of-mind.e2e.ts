import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

const version = '3.6.16';

story.asOnTheLab('any change of mind ends at the last word', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await step('the operator is killed while it creates the cluster', async () => {
    await db.apply({ size: 3, version });
    await kubectl('wait etcdcluster/db --for=jsonpath={.status.phase}=Creating --timeout=30s');
    await kubectl('delete pods -l name=etcd-operator --grace-period=0 --force');
    await db.settled(3);
  });
  const { clusterId } = await db.status();
  await underTraffic(db, async () => {
    await step('five, one and three again, within seconds', async () => {
      await kubectl('scale etcdcluster db --replicas=5');
      await until('a fourth member', async () => (await db.members()).length > 3 || undefined);
      await kubectl('scale etcdcluster db --replicas=1');
      await until('fewer again', async () => (await db.members()).length < 3 || undefined);
      await kubectl('scale etcdcluster db --replicas=3');
      await db.settled(3);
    });
    await step('two and one within a second', async () => {
      for (const size of [2, 1, 2, 3]) await kubectl(`scale etcdcluster db --replicas=${size}`);
      await db.settled(3);
    });
  });
  expect((await db.status())['clusterId']).toBe(clusterId);
  await step('no more pods than members', async () => {
    await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
  });
});

story.asOnTheLab('a new cluster under an old name never meets the old one', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version, durable: true });
  await db.settled(3);
  await db.withMembers(async ([member]) => member?.put('old', 'cluster'));
  const { clusterId: old } = await db.status();
  const oldNames = await db.podNames();
  await step('deleted, and made again at once', async () => {
    await kubectl('delete etcdcluster db --wait=false');
    await db.apply({ size: 3, version, durable: true });
    await until('another cluster', async () => {
      const { clusterId } = await db.status();
      return (clusterId !== undefined && clusterId !== old) || undefined;
    });
    await db.settled(3);
  });
  await step('it has other members and none of the data', async () => {
    expect((await db.members()).filter(({ name }) => oldNames.includes(name))).toEqual([]);
    expect(await db.withMembers(async ([member]) => member?.get('old'))).toBeUndefined();
  });
  await step('nothing of the old one is left', async () => {
    for (const name of oldNames) {
      await kubectl(`wait pod/${name} persistentvolumeclaim/${name} --for=delete --timeout=60s`);
    }
  });
});

story.asOnTheLab('names may be as long as names can be', async (told) => {
  const { kubectl, step } = told;
  await installOperator(told);
  await step('one too long is refused, with what would do', async () => {
    const tooLong = declared(kubectl, 'n'.repeat(57));
    await expect(tooLong.apply({ size: 1, version })).rejects.toThrow(/cannot be more than 52 characters long/);
  });
  await step('the longest serves', async () => {
    const longest = declared(kubectl, 'n'.repeat(52));
    await longest.apply({ size: 1, version, durable: true });
    await longest.settled(1);
  });
});
