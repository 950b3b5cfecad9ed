import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { writesOf } from '../support/writes.ts';

story.onOurCluster('the operator writes little, and nothing while all is well', async (told) => {
  const { kubectl, step, namespace, nodes } = told;
  const db = declared(kubectl);
  const writes = (): readonly string[] => writesOf(nodes.auditLog, namespace);
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
