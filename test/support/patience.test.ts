import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

it.each([
  ['four times as long by default, when stories share the machine', undefined, '--timeout=120s'],
  ['as long as STORIES_PATIENCE sets', '2', '--timeout=60s'],
])('a story waits %s', async (_, patience, want) => {
  vi.stubEnv('STORIES_PATIENCE', patience);
  vi.resetModules();
  const { stretchTimeouts } = await import('./patience.ts');
  expect(stretchTimeouts('wait --timeout=30s')).toBe(`wait ${want}`);
});
