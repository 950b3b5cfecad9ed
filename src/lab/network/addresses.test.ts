import { expect, it } from 'vitest';
import { Addresses } from './addresses.ts';

it('are free again when what was to have one could not be made', async () => {
  const addresses = new Addresses();
  for (let pod = 0; pod < 300; pod += 1)
    await expect(addresses.lend(1, () => Promise.reject(new Error('no cable')))).rejects.toThrow('no cable');
  expect(await addresses.lend(1, async (address) => address)).toMatch(/^10\.244\.1\.\d+$/);
});
