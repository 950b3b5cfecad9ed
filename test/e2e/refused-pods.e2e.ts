import { coreos } from '../support/apis.ts';
import { inBothApis } from '../support/both-apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { degradedWith } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor, installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { condition, waitFor } from '../support/waits.ts';

const version = '3.6.16';

/** Waits until the status and an Event quote the API server. */
async function reportedInStatusAndEvent(kubectl: Kubectl, db: DeclaredCluster, part: string): Promise<void> {
  await degradedWith(db, part, 60);
  await eventsContain(kubectl, { reason: 'StepFailed' }, [part]);
}

inBothApis(
  story.asOnTheLab,
  'a pod refused by the API server is reported with the reason, and created once it is allowed',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await step('a missing ServiceAccount is reported', async () => {
      await db.apply({ size: 1, version, pod: { serviceAccountName: 'members' } });
      await reportedInStatusAndEvent(kubectl, db, 'serviceaccount "members" not found');
    });
    await step('once the ServiceAccount exists, the pod is created', async () => {
      await kubectl('create serviceaccount members');
      await db.settled(1);
      await waitFor(kubectl, db.resource, condition('Degraded', 'False'));
    });
  },
);

story.onClusters(
  'an exceeded ResourceQuota is reported, and the scale-up is cancelled or completed',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(coreos)(kubectl);
    await installOperator(context);
    await db.apply({ size: 1, version });
    await db.settled(1);
    await kubectl('create quota few --hard=pods=2'); // the pod of the operator and one more
    await underTraffic(db, async () => {
      await step('a scale-up to three exceeds the quota', async () => {
        await db.apply({ size: 3, version });
        await reportedInStatusAndEvent(kubectl, db, 'exceeded quota: few');
      });
      await step('the size is set back to one', async () => {
        await db.apply({ size: 1, version });
        await db.voters(1);
        await db.settled(1);
      });
      await step('the scale-up to three completes once the quota is deleted', async () => {
        await db.apply({ size: 3, version });
        await reportedInStatusAndEvent(kubectl, db, 'exceeded quota: few');
        await kubectl('delete quota few');
        await db.settled(3);
      });
    });
  },
);
