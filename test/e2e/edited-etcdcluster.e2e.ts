import { expect } from 'vitest';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { degradedWith } from '../support/conditions.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { condition, field, waitFor, waitForDeletion } from '../support/waits.ts';

inBothApis(
  story.asOnTheLab,
  'an edited status and a foreign finalizer of an EtcdCluster cost no member',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    const patch = (body: object, more = ''): Promise<string> =>
      kubectl(`patch ${db.resource} ${more} --type=merge -p '${JSON.stringify(body)}'`);
    const gone = async (): Promise<void> => {
      await waitForDeletion(kubectl, db.resource);
      await waitForDeletion(kubectl, `pods -l ${db.label}`);
    };
    await installFor(api, context);
    await db.apply({ size: 3, version: '3.6.16' });
    await db.settled(3);
    const [names, { clusterId }] = [await db.podNames(), await db.status()];
    await step('a wrong cluster ID in the status is reported, and no pod is changed', async () => {
      await patch({ status: { clusterId: 'abc123' } }, '--subresource=status');
      await degradedWith(db, 'the status records etcd cluster abc123', 60);
      expect(await db.podNames()).toEqual(names);
    });
    await step('after the correction the cluster is healthy', async () => {
      await patch({ status: { clusterId } }, '--subresource=status');
      await waitFor(kubectl, db.resource, condition('Degraded', 'False'));
      await db.settled(3);
      expect(await db.podNames()).toEqual(names);
    });
    await step('a deleted cluster with a foreign finalizer serves until the finalizer is removed', async () => {
      await patch({ metadata: { finalizers: ['example.org/mine'] } });
      await kubectl(`delete ${db.resource} --wait=false`);
      await waitFor(kubectl, db.resource, field('.metadata.deletionTimestamp'));
      expect(await db.members()).toHaveLength(3);
      await patch({ metadata: { finalizers: null } });
      await gone();
    });
    await step('a paused cluster can be deleted', async () => {
      await db.apply({ size: 1, version: '3.6.16', extra: { paused: true } });
      await waitFor(kubectl, db.resource, field(`.status.${api.status.paused}`, true));
      await kubectl(`delete ${db.resource}`);
      await gone();
    });
  },
);
