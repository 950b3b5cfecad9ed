import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

it.each([
  ['four times as long where stories share the machine', undefined, '--timeout=120s'],
  ['as long as the run says that tells stories one by one', '2', '--timeout=60s'],
])('a story waits %s', async (_, patience, want) => {
  vi.stubEnv('STORIES_PATIENCE', patience);
  vi.resetModules();
  const { patiently } = await import('./patience.ts');
  expect(patiently('wait --timeout=30s')).toBe(`wait ${want}`);
});
