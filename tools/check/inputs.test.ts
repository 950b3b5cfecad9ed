import { describe, expect, it } from 'vitest';
import { hashOfInputs, inputsOf } from './inputs.ts';
import { etcdOfEveryVersion, lab, stores, testCluster } from './suites.ts';

describe('the input hash of a suite', () => {
  const tests = ['tools/lib/cache.test.ts'];

  it('is stable', async () => {
    expect(await hashOfInputs({ tests })).toBe(await hashOfInputs({ tests }));
  });

  it('changes with the tests and with the files besides, and ignores directories', async () => {
    const hashes = await Promise.all([
      hashOfInputs({ tests }),
      hashOfInputs({ tests: ['tools/lib/lock.test.ts'] }),
      hashOfInputs({ tests, besides: ['tools/programs/**/*'] }),
    ]);
    expect(new Set(hashes).size).toBe(3);
  });
});

describe('the inputs of a suite', () => {
  /** The files that run and count suites, and the inputs of the image. */
  const everywhere = [
    ...['package.json', 'lab/package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE', 'vitest.config.ts'],
    ...['test/support/longest-first.ts', 'tools/check/suites.ts', 'tools/lib/suites.ts', 'tools/lib/other-failures.ts'],
  ];

  for (const { name, sources } of [etcdOfEveryVersion, stores, lab, testCluster])
    it(`${name}: its tests, their imports, and the files that run it`, async () => {
      const files = await inputsOf(sources);
      expect(everywhere.filter((file) => !files.includes(file))).toEqual([]);
      expect(files.some((file) => /^test\/\w+\/[^/]+\.test\.ts$/.test(file))).toBe(true);
      expect(files.some((file) => file.startsWith('src/'))).toBe(true);
    });

  it('the lab: every file of the lab, because its tests start it as a program', async () => {
    const files = await inputsOf(lab.sources);
    for (const file of ['lab/main.ts', 'lab/cli/command.ts', 'lab/apiserver/gen/schemas.json'])
      expect(files).toContain(file);
  });
});
