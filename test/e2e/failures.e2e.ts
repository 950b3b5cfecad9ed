import { expect } from 'vitest';
import { coreos } from '../support/apis.ts';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { conditionOf, degradedWith } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor, scaleOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, created, field, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.5.35';

const hasWarning = (reason: string, kubectl: Kubectl): Promise<void> =>
  eventsContain(kubectl, { reason, type: 'Warning' });

inBothApis(story, 'a paused cluster is not changed until it is resumed', async (api, context) => {
  const { kubectl, step } = context;
  const db = declaredIn(api)(kubectl);
  await installFor(api, context);
  await db.apply({ size: 3, version });
  await db.settled(3);
  const [victim = ''] = await db.podNames();
  await step('while paused, a deleted pod is not replaced', async () => {
    await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"paused":true}}'`);
    await waitFor(kubectl, db.resource, inSeconds(30, field(`.status.${api.status.paused}`, true)));
    await kubectl(`delete pod ${victim}`);
    await waitFor(kubectl, db.resource, inSeconds(30, field(`.status.${api.status.ready}`, 2)));
    expect(await db.members()).toHaveLength(3);
    expect(await db.podNames()).toHaveLength(2);
  });
  await step('once resumed, the deleted pod is replaced', async () => {
    await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"paused":false}}'`);
    await db.healed(victim, 3);
    expect((await db.status())[api.status.paused]).toBeUndefined();
  });
});

inBothApis(
  story.asOnTheLab,
  'an unschedulable new member is reported, and removed when the size is set back',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await db.apply({ size: 3, version, pod: { ...api.apart } });
    await db.settled(3);
    await underTraffic(db, async () => {
      await step('the fourth member is unschedulable on three nodes', async () => {
        await kubectl(`scale ${db.resource} --replicas=4`);
        const { message } = await degradedWith(db, 'cannot start', 60);
        expect(message).toMatch(/cannot start: Unschedulable: 0\/3 nodes are available/);
        await hasWarning('MemberStuck', kubectl);
        expect((await db.members()).filter((member) => !member.isLearner)).toHaveLength(3);
      });
      await step('the size is set back to three', async () => {
        await kubectl(`scale ${db.resource} --replicas=3`);
        await db.settled(3);
        await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
      });
    });
  },
);

inBothApis(
  story,
  'a missing etcd version is reported, and a corrected version starts the cluster',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await step('the version has a typo', async () => {
      await db.apply({ size: 3, version: '3.5.3535' });
      await waitFor(kubectl, db.resource, condition('Degraded'));
      expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'False', reason: 'Creating' });
      if (api === coreos) expect((await db.status())['phase']).toBe('Creating');
    });
    await step('version and size are corrected before the cluster has bootstrapped', async () => {
      await db.apply({ size: 1, version });
      await db.settled(1);
      await until('one pod', async () => (await db.podNames()).length === 1 || undefined);
    });
  },
);

inBothApis(
  story.asOnTheLab,
  'a member with an emptied volume does not form a new cluster and is replaced',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await db.apply({ size: 3, version, durable: true, extra: { replaceMemberAfterSeconds: 15 } });
    await db.settled(3);
    const [[victim = ''], before, { clusterId }] = [await db.podNames(), await db.ids(), await db.status()];
    await underTraffic(db, async () => {
      await step('the data is removed and etcd is killed', async () => {
        await kubectl(`exec ${victim} -- sh -c 'rm -rf ${api.dataPath} && kill 1'`).catch(() => undefined);
      });
      await step('the member refuses to start, and is replaced', async () => {
        await db.renewed(before, 3);
      });
    });
    expect((await db.status())['clusterId']).toBe(clusterId);
  },
);

inBothApis(story, 'a lost quorum with lost data is reported, and the last member is kept', async (api, context) => {
  const { kubectl, step } = context;
  const db = declaredIn(api)(kubectl);
  await installFor(api, context);
  await db.apply({ size: 3, version });
  await db.settled(3);
  const [first = '', second = '', survivor = ''] = await db.podNames();
  await step('two of three pods are deleted at once, with their PVCs', async () => {
    if (api.isNumbered) {
      await scaleOperator(context, 0); // a running operator would move the data before the pod of a deleted PVC goes
      await kubectl(`delete persistentvolumeclaim ${first} ${second} --wait=false`);
    }
    await kubectl(`delete pod ${first} ${second} --grace-period=0 --force`);
    if (api.isNumbered) await scaleOperator(context, 1);
    expect(await degradedWith(db, 'restore a backup', 90)).toMatchObject({ reason: 'QuorumLost' });
    if (api === coreos) expect(await db.status()).toMatchObject({ phase: 'Failed', reason: expect.any(String) });
    await hasWarning('QuorumLost', kubectl);
  });
  await step('the last member is unchanged', async () => {
    expect(await db.podNames()).toEqual([survivor]);
    expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'False' });
  });
});

inBothApis(story, 'a pod deleted during an outage of the operator is replaced afterwards', async (api, context) => {
  const { kubectl, step } = context;
  const db = declaredIn(api)(kubectl);
  await installFor(api, context);
  await db.apply({ size: 3, version });
  await db.settled(3);
  const [victim = ''] = await db.podNames();
  await step('without an operator a deleted pod is not replaced', async () => {
    await scaleOperator(context, 0);
    await kubectl(`delete pod ${victim}`);
    expect(await db.podNames()).toHaveLength(2);
    expect(await db.members()).toHaveLength(3);
  });
  await step('the restarted operator replaces the pod', async () => {
    await scaleOperator(context, 1);
    await db.healed(victim, 3);
  });
});

inBothApis(
  story,
  'deleted Services and PodDisruptionBudgets are recreated, and changed ones reverted',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await db.apply({ size: 3, version });
    await db.settled(3);
    await step('deleted objects are recreated', async () => {
      await kubectl('delete service db db-client');
      await kubectl('delete poddisruptionbudget db');
      // One by one: `kubectl wait` fails if one of several objects is missing.
      for (const each of ['service/db', 'service/db-client', 'poddisruptionbudget/db'])
        await waitFor(kubectl, each, inSeconds(30, created));
    });
    await step('a changed PodDisruptionBudget is reverted', async () => {
      await kubectl(`patch poddisruptionbudget db --type=merge -p '{"spec":{"minAvailable":0}}'`);
      await waitFor(kubectl, 'poddisruptionbudget/db', inSeconds(30, field('.spec.minAvailable', 2)));
    });
  },
);
