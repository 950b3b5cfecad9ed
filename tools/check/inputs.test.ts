import { describe, expect, it } from 'vitest';
import { hashOfInputs } from './inputs.ts';

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
