import { expect, it } from 'vitest';
import { Addresses } from './addresses.ts';

it('a pod address is free again when its network could not be created', async () => {
  const addresses = new Addresses();
  for (let pod = 0; pod < 300; pod += 1)
    await expect(addresses.withAddress(1, () => Promise.reject(new Error('no cable')))).rejects.toThrow('no cable');
  expect(await addresses.withAddress(1, async (address) => address)).toMatch(/^10\.244\.1\.\d+$/);
});
