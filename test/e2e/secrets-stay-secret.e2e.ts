import { expect } from 'vitest';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { conditionOf, toldOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

const version = '3.6.16';
const value = 'hunter2-of-production';

inBothApis(
  story.asOnTheLab,
  'a value of a Secret that etcd prints is in no status, Event or log of the operator',
  async (api, told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    await installFor(api, told);
    await kubectl(`create secret generic prod --from-literal=level=${value}`);
    const etcdEnv = [{ name: 'ETCD_LOG_LEVEL', valueFrom: { secretKeyRef: { name: 'prod', key: 'level' } } }];
    await db.apply({ size: 1, version, pod: { etcdEnv } });
    await step('etcd does not know such a level, and prints it', async () => {
      const { message } = await toldOf(db, 'output not shown, as the environment has values of Secrets', 120);
      expect(message).toMatch(/kubectl logs \S+ -c etcd --previous/);
      const [pod = ''] = await db.podNames();
      await until('etcd has printed it', async () =>
        (await kubectl(`logs ${pod} -c etcd --previous`)).includes(value) ? true : undefined,
      );
    });
    await step('no user reads it but those that may read Secrets or logs of pods', async () => {
      expect(await kubectl(`get ${db.resource} -o yaml`)).not.toContain(value);
      expect(await kubectl('get events -o yaml')).not.toContain(value);
      expect(await kubectl('logs deployment/etcd-operator')).not.toContain(value);
    });
    await step('that the cluster has no TLS is told, in a condition and an Event', async () => {
      expect(await conditionOf(db, 'Secured')).toMatchObject({ status: 'False', reason: 'NoTLS' });
      await eventsSay(kubectl, { reason: 'NoTLS', type: 'Warning' }, ['neither encrypted nor authenticated']);
    });
  },
);
