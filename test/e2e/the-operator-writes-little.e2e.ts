import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { askedBy } from '../support/audit-log.ts';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';

const reading = new Set(['get', 'list', 'watch']);
/** Events are for people, and the Lease is renewed for as long as the operator lives: both are counted elsewhere. */
const aside = new Set(['events', 'leases', 'selfsubjectaccessreviews']);

story.onOurCluster('the operator writes little, and nothing while all is well', async (told) => {
  const { kubectl, step, namespace, nodes } = told;
  const db = declared(kubectl);
  const writes = (): readonly string[] =>
    askedBy(nodes.auditLog, `${namespace}:etcd-operator-sa`)
      .filter(({ verb, resource }) => !reading.has(verb) && !aside.has(resource))
      .map(({ right }) => right);
  await installOperator(told);
  await step('fifteen writes for a new cluster of three, at the most', async () => {
    await db.apply({ size: 3, version: '3.7.3' });
    await db.settled(3);
    expect(writes().length, writes().join(', ')).toBeLessThanOrEqual(15);
  });
  await step('none while it is settled', async () => {
    const before = writes().length;
    await sleep(15_000); // nothing can be awaited when nothing must happen; the operator looks at etcd every ten seconds
    expect(writes().slice(before)).toEqual([]);
  });
});
