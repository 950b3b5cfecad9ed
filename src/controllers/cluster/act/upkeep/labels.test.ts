import { expect, it } from 'vitest';
import { labelServing } from './labels.ts';

it('the label of the client Service reaches only the pod that was observed', async () => {
  const bodies: unknown[] = [];
  const patch = async (...[, , { body }]: [unknown, unknown, { body: unknown }]) => void bodies.push(body);
  const step = { kind: 'label-serving', name: 'db-1', uid: 'pod', labels: { serving: null }, why: 'it stops' };
  await labelServing(step as never, { cluster: { namespace: 'default', name: 'db' }, writer: { patch } } as never);
  expect(bodies).toEqual([{ metadata: { uid: 'pod', labels: { serving: null } } }]);
});
