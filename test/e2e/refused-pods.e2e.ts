import { coreos } from '../support/apis.ts';
import { inBothApis } from '../support/both-apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { toldOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor, installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { condition, waitFor } from '../support/waits.ts';

const version = '3.6.16';

/** Waits until the status and an Event say what the API server said. */
async function toldTwice(kubectl: Kubectl, db: DeclaredCluster, part: string): Promise<void> {
  await toldOf(db, part, 60);
  await eventsSay(kubectl, { reason: 'StepFailed' }, [part]);
}

inBothApis(
  story.asOnTheLab,
  'pods that are refused are told with the reason, and made when they may be',
  async (api, told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    await installFor(api, told);
    await step('an account that is not there', async () => {
      await db.apply({ size: 1, version, pod: { serviceAccountName: 'members' } });
      await toldTwice(kubectl, db, 'serviceaccount "members" not found');
    });
    await step('it is made', async () => {
      await kubectl('create serviceaccount members');
      await db.settled(1);
      await waitFor(kubectl, db.resource, condition('Degraded', 'False'));
    });
  },
);

story.onClusters('a quota that has no room for another member is told, and given up or waited for', async (told) => {
  const { kubectl, step } = told;
  const db = declaredIn(coreos)(kubectl);
  await installOperator(told);
  await db.apply({ size: 1, version });
  await db.settled(1);
  await kubectl('create quota few --hard=pods=2'); // the operator's, and one more
  await underTraffic(db, async () => {
    await step('three are asked for', async () => {
      await db.apply({ size: 3, version });
      await toldTwice(kubectl, db, 'exceeded quota: few');
    });
    await step('one is enough after all', async () => {
      await db.apply({ size: 1, version });
      await db.voters(1);
      await db.settled(1);
    });
    await step('three again, and this time there is room', async () => {
      await db.apply({ size: 3, version });
      await toldTwice(kubectl, db, 'exceeded quota: few');
      await kubectl('delete quota few');
      await db.settled(3);
    });
  });
});
