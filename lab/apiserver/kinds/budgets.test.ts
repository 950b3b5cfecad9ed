import { expect, it } from 'vitest';
import { asking, labState } from '../../../test/support/lab-requests.ts';

it('a PodDisruptionBudget has either minAvailable or maxUnavailable, as a number or percentage', async () => {
  const ask = asking(labState());
  const create = (spec: object): Promise<unknown> =>
    ask('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', { body: { metadata: { name: 'b' }, spec } });
  await expect(create({ minAvailable: 1, maxUnavailable: 1 })).rejects.toThrow('cannot be both set');
  await expect(create({ minAvailable: -1 })).rejects.toThrow('must be greater than or equal to 0');
  await expect(create({ maxUnavailable: 'x' })).rejects.toThrow('a valid percent string must be');
  expect(await create({ minAvailable: '50%' })).toMatchObject({ spec: { minAvailable: '50%' } });
});
