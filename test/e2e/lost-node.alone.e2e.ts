import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { declared } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installOperator } from '../support/operator.ts';
import { isOnTheLab } from '../support/place.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, field, waitFor } from '../support/waits.ts';

/** Keeps the scheduler from placing pods on these nodes during the work. */
async function whileCordoned(kubectl: Kubectl, nodes: readonly string[], work: () => Promise<void>): Promise<void> {
  try {
    await kubectl(`cordon ${nodes.join(' ')}`);
    await work();
  } finally {
    await kubectl(`uncordon ${nodes.join(' ')}`);
  }
}

story.withNodes('a member on a lost node is replaced after replaceMemberAfterSeconds, not before', async (context) => {
  const { kubectl, step, nodes } = context;
  const db = declared(kubectl);
  const replaceMemberAfterSeconds = isOnTheLab() ? 10 : 30; // the lab detects a lost node sooner
  const operatorNode = async (): Promise<string> =>
    kubectl('get pods -l name=etcd-operator -o jsonpath={.items[0].spec.nodeName}');
  await installOperator(context);
  const home = await operatorNode();
  const lost = nodes.names.find((node) => node !== home) ?? '';
  const others = nodes.names.filter((node) => node !== lost);
  const victim = await step('one member runs on a node without the operator, two on other nodes', async () => {
    const spec = { version: '3.5.35', durable: true, extra: { replaceMemberAfterSeconds } };
    await whileCordoned(kubectl, others, async () => {
      await db.apply({ size: 1, ...spec });
      await db.settled(1);
    });
    const [first = ''] = await db.podNames();
    await whileCordoned(kubectl, [lost], async () => {
      await kubectl(`scale ${db.resource} --replicas=3`);
      await db.settled(3);
    });
    expect(await kubectl(`get pod ${first} -o jsonpath={.spec.nodeName}`)).toBe(lost);
    return first;
  });
  try {
    await underTraffic(db, async () => {
      await step('the node of that member is switched off', async () => {
        await nodes.stop(lost);
        await waitFor(kubectl, `node/${lost}`, condition('Ready', 'Unknown'));
        expect((await db.members()).map(({ name }) => name)).toContain(victim);
      });
      await step('another member takes its place', async () => {
        const replaced = async () => {
          const members = await db.members();
          return (
            (members.length === 3 &&
              members.every(({ name, isLearner }) => name !== '' && name !== victim && !isLearner)) ||
            undefined
          );
        };
        await until('three other voters', replaced, { seconds: 120 });
      });
      await step('the pod on the lost node is not force-deleted', async () => {
        expect(await fieldOf(kubectl, `pod/${victim}`, '.metadata.deletionTimestamp')).not.toBe('');
      });
    });
  } finally {
    await step('the node is switched on again', () => nodes.start(lost));
  }
  await step('the old pod is deleted, and its PVC is kept until keepRemovedVolumesSeconds has passed', async () => {
    await kubectl(`wait pod/${victim} --for=delete --timeout=90s`);
    await db.settled(3);
    await waitFor(kubectl, db.resource, field('.status.keptVolumes[0].name', victim));
    await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"keepRemovedVolumesSeconds":1}}'`);
    await kubectl(`wait pvc/${victim} --for=delete --timeout=90s`);
  });
});
