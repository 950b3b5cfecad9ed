import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { startOutside } from '../support/outside.ts';
import { story } from '../support/story.ts';
import { withCertificates } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.6.16';

story.onOurCluster(
  'an operator outside the Kubernetes cluster reaches members through port-forwards',
  async (context) => {
    const { kubectl, step, namespace, nodes } = context;
    const db = declared(kubectl);
    await using operator = await startOutside(nodes.cluster, namespace);
    await step('three members serve', async () => {
      await db.apply({ size: 3, version });
      await db.settled(3);
    });
    await step('the operator detects that pod addresses are unreachable', async () => {
      expect(operator.log()).toContain('pod addresses are not reachable from here');
    });
    await underTraffic(db, async () => {
      await step('scaled from 3 to 5', async () => {
        await kubectl('scale etcdcluster db --replicas=5');
        await db.settled(5);
      });
      await step('a deleted pod is replaced', async () => {
        const [victim = ''] = await db.podNames();
        await kubectl(`delete pod ${victim}`);
        await db.replaced(victim, 5);
      });
    });
    await step('a cluster with TLS serves through port-forwards', async () => {
      await withCertificates(kubectl, { name: 'safe', namespace, size: 1, version });
      await waitFor(kubectl, 'etcdcluster/safe', inSeconds(90, field('.status.readyMembers', 1)));
    });
    await step('port-forwards of deleted pods are closed', async () => {
      await kubectl('delete etcdcluster db safe');
      await waitForDeletion(kubectl, 'pods -l app=etcd');
      await until(
        'only the connection to the API server is left',
        async () => (await operator.connections()) <= 1 || undefined,
      );
    });
    expect(operator.ended(), operator.log()).toBeUndefined();
  },
);
