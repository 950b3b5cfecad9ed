import { expect } from 'vitest';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { toldOf } from '../support/conditions.ts';
import { installFor, scaleOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, created, field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.5.35';

inBothApis(story.asOnTheLab, 'a killed container, evicted pods and two lost at once are healed', async (api, told) => {
  const { kubectl, step, namespace } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
  await db.apply({ size: 5, version });
  await db.settled(5);
  const evict = (pod: string): { words: string; input: { input: string } } => ({
    words: `create --raw /api/v1/namespaces/${namespace}/pods/${pod}/eviction -f -`,
    input: {
      input: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } }),
    },
  });

  await underTraffic(db, async () => {
    await step('a killed container starts again in its pod: the same members', async () => {
      const before = await db.ids();
      const [victim = ''] = await db.podNames();
      await kubectl(`exec ${victim} -- sh -c 'kill 1'`).catch(() => undefined); // its connection ends with it
      const restarted = '.status.containerStatuses[0].restartCount';
      await waitFor(kubectl, `pod/${victim}`, inSeconds(120, field(restarted, 1)));
      await waitFor(kubectl, `pod/${victim}`, condition('Ready'));
      await db.settled(5);
      expect(await db.ids()).toEqual(before);
    });
    await step('evicted as a drain does it: replaced, and the third waits for its turn', async () => {
      const [first = '', second = '', third = ''] = await db.podNames();
      await waitFor(kubectl, 'poddisruptionbudget/db', field('.status.disruptionsAllowed', 2));
      await scaleOperator(told, 0); // or the first would be replaced before the third is asked for
      for (const { words, input } of [evict(first), evict(second)]) await kubectl(words, input);
      const { words, input } = evict(third);
      expect(await kubectl.refused(words, input)).toMatch(/disruption budget/);
      await scaleOperator(told, 1);
      await db.healed(first, 5);
      await db.healed(second, 5);
    });
    await step('two of five deleted without a warning', async () => {
      const [first = '', second = ''] = await db.podNames();
      await kubectl(`delete pod ${first} ${second} --grace-period=0 --force`);
      await db.healed(first, 5);
      await db.healed(second, 5);
    });
  });
  await step('nothing is left of the others', async () => {
    await until('five pods', async () => (await db.podNames()).length === 5 || undefined);
  });
});

inBothApis(story.asOnTheLab, 'two of three come back to their disks', async (api, told) => {
  const { kubectl, step } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
  await db.apply({ size: 3, version, durable: true });
  await db.settled(3);
  const before = await db.ids();
  await underTraffic(db, async () => {
    await step('two pods are deleted at once, which is a majority', async () => {
      const [first = '', second = ''] = await db.podNames();
      await kubectl(`delete pod ${first} ${second} --grace-period=0 --force`);
      for (const name of [first, second]) await waitFor(kubectl, `pod/${name}`, inSeconds(30, created));
      await kubectl(`wait pod/${first} pod/${second} --for=condition=Ready --timeout=60s`);
      await db.settled(3);
    });
  });
  expect(await db.ids()).toEqual(before);
  await step('a disk that is deleted with its pod is replaced', async () => {
    const [victim = ''] = await db.podNames();
    await underTraffic(db, async () => {
      await kubectl(`delete persistentvolumeclaim ${victim} --wait=false`);
      await kubectl(`delete pod ${victim}`);
      await db.renewed(before, 3);
    });
  });
});

inBothApis(story.asOnTheLab, 'a founder that never came is not taken for one that lost its data', async (api, told) => {
  const { kubectl, step } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
  await step('two of three found a cluster, because there is no node for the third', async () => {
    const labels = { [api.label]: 'db', 'app.kubernetes.io/name': 'etcd' };
    const containers = [{ name: 'sleep', image: 'busybox', command: ['sleep', '3600'] }];
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'in-the-way', labels }, spec: { containers } };
    await kubectl('create -f -', { input: JSON.stringify(pod) });
    await waitFor(kubectl, 'pod/in-the-way', condition('Ready'));
    await db.apply({ size: 3, version, durable: true, pod: { ...api.apart } });
    await waitFor(kubectl, db.resource, field('.status.clusterId'));
    await toldOf(db, 'Unschedulable', 60);
  });
  const before = await db.ids();
  await step('its pod is lost before it ever ran, and made again where there is room', async () => {
    await kubectl(`delete pods -l ${db.label} --field-selector=status.phase=Pending --wait=false`);
    await kubectl('delete pod in-the-way --grace-period=0 --force');
    await db.settled(3, 60);
    expect(await db.ids()).toEqual(before);
  });
});

inBothApis(
  story.asOnTheLab,
  'a claim that is deleted under its only member takes no data with it',
  async (api, told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    await installFor(api, told);
    await db.apply({ size: 1, version, durable: true });
    await db.settled(1);
    const [[victim = ''], before] = [await db.podNames(), await db.ids()];
    await underTraffic(db, async () => {
      await step('another member is there, with all that was written, before its pod goes', async () => {
        await kubectl(`delete persistentvolumeclaim ${victim} --wait=false`);
        await db.renewed(before, 1);
        await waitForDeletion(kubectl, `pod/${victim}`);
      });
    });
  },
);
