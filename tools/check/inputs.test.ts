import { describe, expect, it } from 'vitest';
import { hashOfInputs, inputsOf } from './inputs.ts';
import { etcdVersions, lab, stores, testCluster } from './suites.ts';

describe('the hash of what goes into a suite', () => {
  const tests = ['tools/lib/cache.test.ts'];

  it('is the same as long as nothing changes', async () => {
    expect(await hashOfInputs({ tests })).toBe(await hashOfInputs({ tests }));
  });

  it('is another with other tests, or with other files besides, directories left aside', async () => {
    const hashes = await Promise.all([
      hashOfInputs({ tests }),
      hashOfInputs({ tests: ['tools/lib/lock.test.ts'] }),
      hashOfInputs({ tests, besides: ['tools/programs/**/*'] }),
    ]);
    expect(new Set(hashes).size).toBe(3);
  });
});

describe('what goes into a suite', () => {
  /** How suites are run and counted, and what the image is made from. */
  const everywhere = [
    ...['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE', 'vitest.config.ts'],
    ...['test/support/longest-first.ts', 'tools/check/suites.ts', 'tools/lib/suites.ts', 'tools/lib/other-failures.ts'],
  ];

  for (const { name, sources } of [etcdVersions, stores, lab, testCluster])
    it(`${name}: its tests, what they import, and all that decides how it is run`, async () => {
      const files = await inputsOf(sources);
      expect(everywhere.filter((file) => !files.includes(file))).toEqual([]);
      expect(files.some((file) => /^test\/\w+\/[^/]+\.test\.ts$/.test(file))).toBe(true);
      expect(files.some((file) => file.startsWith('src/'))).toBe(true);
    });
});
