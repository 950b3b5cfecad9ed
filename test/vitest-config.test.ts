import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

it('ISOLATED=1 isolates the test files of every project', async () => {
  vi.stubEnv('ISOLATED', '1');
  vi.resetModules();
  const { default: config } = (await import('../vitest.config.ts')) as { default: { test?: { projects?: unknown[] } } };
  const projects = config.test?.projects as readonly { readonly test: { name: string; isolate?: boolean } }[];
  expect(projects.length).toBeGreaterThan(5);
  expect(projects.filter(({ test }) => test.isolate === false).map(({ test }) => test.name)).toEqual([]);
});
