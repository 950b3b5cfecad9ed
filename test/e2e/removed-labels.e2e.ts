import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { eventsContain } from '../support/events.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { condition, field, waitFor } from '../support/waits.ts';

inBothApis(
  story.asOnTheLab,
  'removed labels of pods and PVCs are restored, and no member is replaced',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    const [ours, clusters] = api.isNumbered
      ? ['app.kubernetes.io/name', 'etcd.improbable.io/cluster-name']
      : ['app', 'etcd_cluster'];
    await installFor(api, context);
    await db.apply({ size: 3, version: '3.6.16', durable: true });
    await db.settled(3);
    const [[victim = ''], before] = [await db.podNames(), await db.ids()];
    const uid = (): Promise<string> => fieldOf(kubectl, `pod/${victim}`, '.metadata.uid');
    const podUid = await uid();
    const taken: readonly (readonly [kind: string, type: string, label: string, value: string])[] = [
      ['Pod', 'pod', ours, 'etcd'],
      ['Pod', 'pod', clusters, db.name],
      ['PersistentVolumeClaim', 'pvc', ours, 'etcd'],
      ['PersistentVolumeClaim', 'pvc', clusters, db.name],
    ];
    await underTraffic(db, async () => {
      for (const [kind, type, label, value] of taken) {
        await step(`${label} removed from a ${kind} is restored`, async () => {
          await kubectl(`label ${type} ${victim} ${label}-`);
          await waitFor(kubectl, `${type}/${victim}`, field(`.metadata.labels.${label.replaceAll('.', '\\.')}`, value));
          const message = `${kind} ${victim} had lost labels (${label}=`;
          await eventsContain(kubectl, { reason: 'LabelsLost' }, [message]);
        });
      }
      await waitFor(kubectl, db.resource, condition('Degraded', 'False'));
      await db.settled(3);
    });
    expect(await db.ids()).toEqual(before);
    expect(await uid()).toBe(podUid);
  },
);
