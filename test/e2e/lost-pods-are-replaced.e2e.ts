import { expect } from 'vitest';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { degradedWith } from '../support/conditions.ts';
import { installFor, scaleOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, created, field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.5.35';

inBothApis(
  story.asOnTheLab,
  'a killed container, evicted pods and two pods deleted at once are replaced',
  async (api, context) => {
    const { kubectl, step, namespace } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await db.apply({ size: 5, version });
    await db.settled(5);
    const evict = (pod: string): { args: string; input: { input: string } } => ({
      args: `create --raw /api/v1/namespaces/${namespace}/pods/${pod}/eviction -f -`,
      input: {
        input: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } }),
      },
    });

    await underTraffic(db, async () => {
      await step('a killed container restarts in its pod, and the members are unchanged', async () => {
        const before = await db.ids();
        const [victim = ''] = await db.podNames();
        await kubectl(`exec ${victim} -- sh -c 'kill 1'`).catch(() => undefined); // the exec ends with the container
        const restarted = '.status.containerStatuses[0].restartCount';
        await waitFor(kubectl, `pod/${victim}`, inSeconds(120, field(restarted, 1)));
        await waitFor(kubectl, `pod/${victim}`, condition('Ready'));
        await db.settled(5);
        expect(await db.ids()).toEqual(before);
      });
      await step('two evicted pods are replaced, and the disruption budget refuses a third eviction', async () => {
        const [first = '', second = '', third = ''] = await db.podNames();
        await waitFor(kubectl, 'poddisruptionbudget/db', field('.status.disruptionsAllowed', 2));
        await scaleOperator(context, 0); // the operator would replace the first pod before the third eviction
        for (const { args, input } of [evict(first), evict(second)]) await kubectl(args, input);
        const { args, input } = evict(third);
        expect(await kubectl.refused(args, input)).toMatch(/disruption budget/);
        await scaleOperator(context, 1);
        await db.healed(first, 5);
        await db.healed(second, 5);
      });
      await step('two of five pods are force-deleted and replaced', async () => {
        const [first = '', second = ''] = await db.podNames();
        await kubectl(`delete pod ${first} ${second} --grace-period=0 --force`);
        await db.healed(first, 5);
        await db.healed(second, 5);
      });
    });
    await step('no pod of a removed member is left', async () => {
      await until('five pods', async () => (await db.podNames()).length === 5 || undefined);
    });
  },
);

inBothApis(
  story.asOnTheLab,
  'two deleted pods of three return to their PVCs, and a deleted PVC is replaced',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await db.apply({ size: 3, version, durable: true });
    await db.settled(3);
    const before = await db.ids();
    await underTraffic(db, async () => {
      await step('two of three pods are force-deleted: the cluster loses quorum, and recovers it', async () => {
        const [first = '', second = ''] = await db.podNames();
        await kubectl(`delete pod ${first} ${second} --grace-period=0 --force`);
        for (const name of [first, second]) await waitFor(kubectl, `pod/${name}`, inSeconds(30, created));
        await kubectl(`wait pod/${first} pod/${second} --for=condition=Ready --timeout=60s`);
        await db.settled(3);
      });
    });
    expect(await db.ids()).toEqual(before);
    await step('a PVC deleted with its pod is replaced by a new member', async () => {
      const [victim = ''] = await db.podNames();
      await underTraffic(db, async () => {
        await kubectl(`delete persistentvolumeclaim ${victim} --wait=false`);
        await kubectl(`delete pod ${victim}`);
        await db.renewed(before, 3);
      });
    });
  },
);

inBothApis(
  story.asOnTheLab,
  'a bootstrap member that never started is not treated as a member without data',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await step('two of three members bootstrap the cluster, and the third is unschedulable', async () => {
      const labels = { [api.label]: 'db', 'app.kubernetes.io/name': 'etcd' };
      const containers = [{ name: 'sleep', image: 'busybox', command: ['sleep', '3600'] }];
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'in-the-way', labels }, spec: { containers } };
      await kubectl('create -f -', { input: JSON.stringify(pod) });
      await waitFor(kubectl, 'pod/in-the-way', condition('Ready'));
      await db.apply({ size: 3, version, durable: true, pod: { ...api.apart } });
      await waitFor(kubectl, db.resource, field('.status.clusterId'));
      await degradedWith(db, 'Unschedulable', 60);
    });
    const before = await db.ids();
    await step('the pending pod is deleted, and its successor starts as the same member', async () => {
      await kubectl(`delete pods -l ${db.label} --field-selector=status.phase=Pending --wait=false`);
      await kubectl('delete pod in-the-way --grace-period=0 --force');
      await db.settled(3, 60);
      expect(await db.ids()).toEqual(before);
    });
  },
);

inBothApis(
  story.asOnTheLab,
  'a deleted PVC of the only member is replaced without loss of data',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await db.apply({ size: 1, version, durable: true });
    await db.settled(1);
    const [[victim = ''], before] = [await db.podNames(), await db.ids()];
    await underTraffic(db, async () => {
      await step('a new member has all the data before the old pod is deleted', async () => {
        await kubectl(`delete persistentvolumeclaim ${victim} --wait=false`);
        await db.renewed(before, 1);
        await waitForDeletion(kubectl, `pod/${victim}`);
      });
    });
  },
);
