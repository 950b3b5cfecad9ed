import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { installOperator, scaleOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

const version = '3.5.35';

story('a paused cluster is left alone until it is paused no more', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version });
  await db.settled(3);
  const [victim = ''] = await db.podNames();
  await step('paused: a deleted pod is not replaced', async () => {
    await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"paused":true}}'`);
    await kubectl('wait etcdcluster/db --for=jsonpath={.status.controlPaused}=true --timeout=30s');
    await kubectl(`delete pod ${victim}`);
    await kubectl('wait etcdcluster/db --for=jsonpath={.status.readyMembers}=2 --timeout=30s');
    expect(await db.members()).toHaveLength(3);
    expect(await db.podNames()).toHaveLength(2);
  });
  await step('no longer paused: it is', async () => {
    await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"paused":false}}'`);
    await db.replaced(victim, 3);
    expect((await db.status())['controlPaused']).toBeUndefined();
  });
});

story('an addition that cannot start is reported, and taken back when it is no longer wanted', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version, pod: { antiAffinity: true } });
  await db.settled(3);
  await underTraffic(db, async () => {
    await step('there is no fourth node', async () => {
      await kubectl('scale etcdcluster db --replicas=4');
      await kubectl('wait etcdcluster/db --for=condition=Degraded --timeout=60s');
      const message = await kubectl(
        `get etcdcluster db -o jsonpath='{.status.conditions[?(@.type=="Degraded")].message}'`,
      );
      expect(message).toMatch(/cannot start: Unschedulable: 0\/3 nodes are available/);
      expect(await kubectl('get events --field-selector reason=MemberStuck -o jsonpath={.items[*].type}')).toBe(
        'Warning',
      );
      expect((await db.members()).filter((member) => !member.isLearner)).toHaveLength(3);
    });
    await step('three will do', async () => {
      await kubectl('scale etcdcluster db --replicas=3');
      await db.settled(3);
      await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
    });
  });
});

story('a version that nobody has is reported, and correcting it recovers', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await step('a typo', async () => {
    await db.apply({ size: 3, version: '3.5.3535' });
    await kubectl('wait etcdcluster/db --for=condition=Degraded --timeout=60s');
    expect((await db.status())['phase']).toBe('Creating');
  });
  await step('corrected', async () => {
    await db.apply({ size: 3, version });
    await db.settled(3);
  });
});

story('a member whose disk was emptied behind our back forms no new cluster', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version, durable: true, extra: { replaceMemberAfterSeconds: 15 } });
  await db.settled(3);
  const [victim = ''] = await db.podNames();
  const { clusterId } = await db.status();
  await underTraffic(db, async () => {
    await step('its data is removed and it is killed', async () => {
      await kubectl(`exec ${victim} -- sh -c 'rm -rf /var/etcd/data && kill 1'`).catch(() => undefined);
    });
    await step('it refuses to start, and is replaced', async () => {
      await db.replaced(victim, 3);
    });
  });
  expect((await db.status())['clusterId']).toBe(clusterId);
});

story('a majority that lost its data is reported, and nothing is destroyed', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version });
  await db.settled(3);
  const [first = '', second = '', survivor = ''] = await db.podNames();
  await step('two of three pods without disks are deleted at once', async () => {
    await kubectl(`delete pod ${first} ${second} --grace-period=0 --force`);
    await kubectl('wait etcdcluster/db --for=jsonpath={.status.phase}=Failed --timeout=90s');
    const status = await db.status();
    expect(status).toMatchObject({ reason: expect.stringContaining('restore a backup') });
    expect(await kubectl('get events --field-selector reason=QuorumLost -o jsonpath={.items[*].type}')).toBe('Warning');
  });
  await step('the survivor is untouched', async () => {
    expect(await db.podNames()).toEqual([survivor]);
    expect(await kubectl(`get etcdcluster db -o jsonpath='{.status.conditions[?(@.type=="Available")].status}'`)).toBe(
      'False',
    );
  });
});

story('an operator that was away takes up where it left', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version });
  await db.settled(3);
  const [victim = ''] = await db.podNames();
  await step('without the operator a deleted pod stays away', async () => {
    await scaleOperator(told, 0);
    await kubectl(`delete pod ${victim}`);
    expect(await db.podNames()).toHaveLength(2);
    expect(await db.members()).toHaveLength(3);
  });
  await step('with it, it is replaced', async () => {
    await scaleOperator(told, 1);
    await db.replaced(victim, 3);
  });
});

story('services and budget that were deleted come back', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version });
  await db.settled(3);
  await step('deleted, and back', async () => {
    await kubectl('delete service db db-client');
    await kubectl('delete poddisruptionbudget db');
    // One after the other: of several that are missing, kubectl does not wait for any.
    for (const each of ['service/db', 'service/db-client', 'poddisruptionbudget/db'])
      await kubectl(`wait ${each} --for=create --timeout=30s`);
  });
  await step('changed, and put right', async () => {
    await kubectl(`patch poddisruptionbudget db --type=merge -p '{"spec":{"minAvailable":0}}'`);
    await kubectl('wait poddisruptionbudget/db --for=jsonpath={.spec.minAvailable}=2 --timeout=30s');
  });
});
