import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { eventsSay } from '../support/events.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { condition, field, waitFor } from '../support/waits.ts';

inBothApis(
  story.asOnTheLab,
  'pods and volumes get back the labels by which they are found, and no member is replaced',
  async (api, told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    const [ours, clusters] = api.isNumbered
      ? ['app.kubernetes.io/name', 'etcd.improbable.io/cluster-name']
      : ['app', 'etcd_cluster'];
    await installFor(api, told);
    await db.apply({ size: 3, version: '3.6.16', durable: true });
    await db.settled(3);
    const [[victim = ''], before] = [await db.podNames(), await db.ids()];
    const uid = (): Promise<string> => shown(kubectl, `pod/${victim}`, '.metadata.uid');
    const body = await uid();
    const taken: readonly (readonly [kind: string, type: string, label: string, value: string])[] = [
      ['Pod', 'pod', ours, 'etcd'],
      ['Pod', 'pod', clusters, db.name],
      ['PersistentVolumeClaim', 'pvc', ours, 'etcd'],
      ['PersistentVolumeClaim', 'pvc', clusters, db.name],
    ];
    await underTraffic(db, async () => {
      for (const [kind, type, label, value] of taken) {
        await step(`somebody takes ${label} from a ${kind}, and it is back`, async () => {
          await kubectl(`label ${type} ${victim} ${label}-`);
          await waitFor(kubectl, `${type}/${victim}`, field(`.metadata.labels.${label.replaceAll('.', '\\.')}`, value));
          const says = `${kind} ${victim} had lost labels by which it is found (${label}=`;
          await eventsSay(kubectl, { reason: 'LabelsLost' }, [says]);
        });
      }
      await waitFor(kubectl, db.resource, condition('Degraded', 'False'));
      await db.settled(3);
    });
    expect(await db.ids()).toEqual(before);
    expect(await uid()).toBe(body);
  },
);
