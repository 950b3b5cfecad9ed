import { expect } from 'vitest';
import { coreos } from '../support/apis.ts';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { conditionOf, toldOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor, scaleOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, created, field, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.5.35';

const isWarnedOf = (reason: string, kubectl: Kubectl): Promise<void> => eventsSay(kubectl, { reason, type: 'Warning' });

inBothApis(story, 'a paused cluster is left alone until it is paused no more', async (api, told) => {
  const { kubectl, step } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
  await db.apply({ size: 3, version });
  await db.settled(3);
  const [victim = ''] = await db.podNames();
  await step('paused: a deleted pod is not replaced', async () => {
    await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"paused":true}}'`);
    await waitFor(kubectl, db.resource, inSeconds(30, field(`.status.${api.status.paused}`, true)));
    await kubectl(`delete pod ${victim}`);
    await waitFor(kubectl, db.resource, inSeconds(30, field(`.status.${api.status.ready}`, 2)));
    expect(await db.members()).toHaveLength(3);
    expect(await db.podNames()).toHaveLength(2);
  });
  await step('no longer paused: it is', async () => {
    await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"paused":false}}'`);
    await db.healed(victim, 3);
    expect((await db.status())[api.status.paused]).toBeUndefined();
  });
});

inBothApis(
  story.asOnTheLab,
  'an addition that cannot start is reported, and taken back when it is no longer wanted',
  async (api, told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    await installFor(api, told);
    await db.apply({ size: 3, version, pod: { ...api.apart } });
    await db.settled(3);
    await underTraffic(db, async () => {
      await step('there is no fourth node', async () => {
        await kubectl(`scale ${db.resource} --replicas=4`);
        const { message } = await toldOf(db, 'cannot start', 60);
        expect(message).toMatch(/cannot start: Unschedulable: 0\/3 nodes are available/);
        await isWarnedOf('MemberStuck', kubectl);
        expect((await db.members()).filter((member) => !member.isLearner)).toHaveLength(3);
      });
      await step('three will do', async () => {
        await kubectl(`scale ${db.resource} --replicas=3`);
        await db.settled(3);
        await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
      });
    });
  },
);

inBothApis(story, 'a version that nobody has is reported, and correcting it recovers', async (api, told) => {
  const { kubectl, step } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
  await step('a typo', async () => {
    await db.apply({ size: 3, version: '3.5.3535' });
    await waitFor(kubectl, db.resource, condition('Degraded'));
    expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'False', reason: 'Creating' });
    if (api === coreos) expect((await db.status())['phase']).toBe('Creating');
  });
  await step('corrected, and another size before there was a first quorum', async () => {
    await db.apply({ size: 1, version });
    await db.settled(1);
    await until('one pod', async () => (await db.podNames()).length === 1 || undefined);
  });
});

inBothApis(
  story.asOnTheLab,
  'a member whose disk was emptied behind our back forms no new cluster',
  async (api, told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    await installFor(api, told);
    await db.apply({ size: 3, version, durable: true, extra: { replaceMemberAfterSeconds: 15 } });
    await db.settled(3);
    const [[victim = ''], before, { clusterId }] = [await db.podNames(), await db.ids(), await db.status()];
    await underTraffic(db, async () => {
      await step('its data is removed and it is killed', async () => {
        await kubectl(`exec ${victim} -- sh -c 'rm -rf ${api.dataPath} && kill 1'`).catch(() => undefined);
      });
      await step('it refuses to start, and is replaced', async () => {
        await db.renewed(before, 3);
      });
    });
    expect((await db.status())['clusterId']).toBe(clusterId);
  },
);

inBothApis(story, 'a majority that lost its data is reported, and nothing is destroyed', async (api, told) => {
  const { kubectl, step } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
  await db.apply({ size: 3, version });
  await db.settled(3);
  const [first = '', second = '', survivor = ''] = await db.podNames();
  await step('two of three are deleted at once, with their disks if they have any', async () => {
    if (api.isNumbered) {
      await scaleOperator(told, 0); // it would save what is on a disk that is deleted before its pod
      await kubectl(`delete persistentvolumeclaim ${first} ${second} --wait=false`);
    }
    await kubectl(`delete pod ${first} ${second} --grace-period=0 --force`);
    if (api.isNumbered) await scaleOperator(told, 1);
    expect(await toldOf(db, 'restore a backup', 90)).toMatchObject({ reason: 'QuorumLost' });
    if (api === coreos) expect(await db.status()).toMatchObject({ phase: 'Failed', reason: expect.any(String) });
    await isWarnedOf('QuorumLost', kubectl);
  });
  await step('the survivor is untouched', async () => {
    expect(await db.podNames()).toEqual([survivor]);
    expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'False' });
  });
});

inBothApis(story, 'an operator that was away takes up where it left', async (api, told) => {
  const { kubectl, step } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
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
    await db.healed(victim, 3);
  });
});

inBothApis(story, 'services and budget that were deleted come back', async (api, told) => {
  const { kubectl, step } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
  await db.apply({ size: 3, version });
  await db.settled(3);
  await step('deleted, and back', async () => {
    await kubectl('delete service db db-client');
    await kubectl('delete poddisruptionbudget db');
    // One after the other: of several that are missing, kubectl does not wait for any.
    for (const each of ['service/db', 'service/db-client', 'poddisruptionbudget/db'])
      await waitFor(kubectl, each, inSeconds(30, created));
  });
  await step('changed, and put right', async () => {
    await kubectl(`patch poddisruptionbudget db --type=merge -p '{"spec":{"minAvailable":0}}'`);
    await waitFor(kubectl, 'poddisruptionbudget/db', inSeconds(30, field('.spec.minAvailable', 2)));
  });
});
