import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LabHome } from './lab-home.ts';

it('a lab uses a given operator bundle, and builds none itself', async () => {
  const home = new LabHome({});
  expect(await home.useOperatorBundle('/somewhere/etcd-operator.mjs')).toBe('/somewhere/etcd-operator.mjs');
  expect(existsSync(join(home.directory, 'operator'))).toBe(false);
  rmSync(home.directory, { recursive: true });
});
