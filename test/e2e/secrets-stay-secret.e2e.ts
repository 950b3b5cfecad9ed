import { expect } from 'vitest';
import { inBothApis } from '../support/both-apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { conditionOf, degradedWith } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

const version = '3.6.16';
const value = 'hunter2-of-production';

inBothApis(
  story.asOnTheLab,
  'a Secret value printed by etcd is in no status, Event or operator log',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    await installFor(api, context);
    await kubectl(`create secret generic prod --from-literal=level=${value}`);
    const etcdEnv = [{ name: 'ETCD_LOG_LEVEL', valueFrom: { secretKeyRef: { name: 'prod', key: 'level' } } }];
    await db.apply({ size: 1, version, pod: { etcdEnv } });
    await step('etcd refuses the log level, and prints the value', async () => {
      const { message } = await degradedWith(
        db,
        'output not shown, because the environment has values of Secrets',
        120,
      );
      expect(message).toMatch(/kubectl logs \S+ -c etcd --previous/);
      const [pod = ''] = await db.podNames();
      await until('the value is in the etcd log', async () =>
        (await kubectl(`logs ${pod} -c etcd --previous`)).includes(value) ? true : undefined,
      );
    });
    await step('the value is in no status, Event or operator log', async () => {
      expect(await kubectl(`get ${db.resource} -o yaml`)).not.toContain(value);
      expect(await kubectl('get events -o yaml')).not.toContain(value);
      expect(await kubectl('logs deployment/etcd-operator')).not.toContain(value);
    });
    await step('missing TLS is reported in a condition and an Event', async () => {
      expect(await conditionOf(db, 'Secured')).toMatchObject({ status: 'False', reason: 'NoTLS' });
      await eventsContain(kubectl, { reason: 'NoTLS', type: 'Warning' }, ['neither encrypted nor authenticated']);
    });
  },
);
