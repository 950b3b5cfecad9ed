import { expect } from 'vitest';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

inBothApis(
  story.asOnTheLab,
  'a pod gets back the label by which it is found, and its member is not replaced',
  async (api, told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    const label = api.isNumbered ? 'app.kubernetes.io/name' : 'app';
    await installFor(api, told);
    await db.apply({ size: 3, version: '3.6.16' });
    await db.settled(3);
    const [[victim = ''], before] = [await db.podNames(), await db.ids()];
    const uid = (): Promise<string> => kubectl(`get pod ${victim} -o jsonpath={.metadata.uid}`);
    const body = await uid();
    await underTraffic(db, async () => {
      await step('somebody takes it away, and it is back', async () => {
        await kubectl(`label pod ${victim} ${label}-`);
        await kubectl(
          `wait pod/${victim} '--for=jsonpath={.metadata.labels.${label.replaceAll('.', '\\.')}}=etcd' --timeout=60s`,
        );
      });
      await step('an Event names the pod and the label', async () => {
        await until('it is told', async () => {
          const messages = await kubectl(
            'get events --field-selector reason=LabelsLost -o jsonpath={.items[*].message}',
          );
          return (messages.includes(`Pod ${victim} had lost`) && messages.includes(`${label}=etcd`)) || undefined;
        });
      });
      await kubectl(`wait ${db.resource} --for=condition=Degraded=False --timeout=60s`);
      await db.settled(3);
    });
    expect(await db.ids()).toEqual(before);
    expect(await uid()).toBe(body);
  },
);
