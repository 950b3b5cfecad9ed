import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { installOperator, scaleOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

const version = '3.5.35';

story('a killed container, evicted pods and two lost at once are healed', async (told) => {
  const { kubectl, step, namespace } = told;
  const db = declared(kubectl);
  await installOperator(told);
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
      const restarted = '{.status.containerStatuses[0].restartCount}';
      await kubectl(`wait pod/${victim} --for=jsonpath=${restarted}=1 --timeout=120s`);
      await kubectl(`wait pod/${victim} --for=condition=Ready --timeout=60s`);
      await db.settled(5);
      expect(await db.ids()).toEqual(before);
    });
    await step('evicted as a drain does it: replaced, and the third waits for its turn', async () => {
      const [first = '', second = '', third = ''] = await db.podNames();
      await scaleOperator(told, 0); // or the first would be replaced before the third is asked for
      for (const { words, input } of [evict(first), evict(second)]) await kubectl(words, input);
      const { words, input } = evict(third);
      expect(await kubectl.refused(words, input)).toMatch(/disruption budget/);
      await scaleOperator(told, 1);
      await db.replaced(first, 5);
      await db.replaced(second, 5);
    });
    await step('two of five deleted without a warning', async () => {
      const [first = '', second = ''] = await db.podNames();
      await kubectl(`delete pod ${first} ${second} --grace-period=0 --force`);
      await db.replaced(first, 5);
      await db.replaced(second, 5);
    });
  });
  await step('nothing is left of the others', async () => {
    await until('five pods', async () => (await db.podNames()).length === 5 || undefined);
  });
});

story('two of three come back to their disks', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version, durable: true });
  await db.settled(3);
  const before = await db.ids();
  await underTraffic(db, async () => {
    await step('two pods are deleted at once, which is a majority', async () => {
      const [first = '', second = ''] = await db.podNames();
      await kubectl(`delete pod ${first} ${second} --grace-period=0 --force`);
      for (const name of [first, second]) await kubectl(`wait pod/${name} --for=create --timeout=30s`);
      await db.settled(3);
    });
  });
  expect(await db.ids()).toEqual(before);
  await step('a disk that is deleted with its pod is replaced', async () => {
    const [victim = ''] = await db.podNames();
    await underTraffic(db, async () => {
      await kubectl(`delete persistentvolumeclaim ${victim} --wait=false`);
      await kubectl(`delete pod ${victim}`);
      await db.replaced(victim, 3);
    });
  });
});
