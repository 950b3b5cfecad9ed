import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { kubectlIn, wordsOf } from './kubectl.ts';
import { patiently } from './patience.ts';

describe('a kubectl command line', () => {
  const cases: Record<string, readonly string[]> = {
    'get pods -o wide': ['get', 'pods', '-o', 'wide'],
    "exec db -- sh -c 'echo a  b'": ['exec', 'db', '--', 'sh', '-c', 'echo a  b'],
    'wait pod/a --for=jsonpath="{.status.phase}"=Running': ['wait', 'pod/a', '--for=jsonpath={.status.phase}=Running'],
    'put k ""': ['put', 'k', ''],
  };
  for (const [line, words] of Object.entries(cases)) it(line, () => expect(wordsOf(line)).toEqual(words));
});

describe('the limit of a kubectl command line', () => {
  it('is stretched, unless it is meant to run out', () => {
    expect(patiently('wait pod/a --for=delete --timeout=30s')).toBe('wait pod/a --for=delete --timeout=120s');
    expect(patiently('wait pod/a --for=delete --timeout=10s')).toBe('wait pod/a --for=delete --timeout=10s');
  });
});

describe('a kubectl that ends in failure', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kubectl-'));
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true });
  });

  /** A kubectl that says this, whatever it is asked. */
  const kubectlSaying = (words: string) => {
    const file = join(directory, 'kubectl');
    writeFileSync(file, `#!/bin/sh\necho '${words}' >&2\nexit 1\n`);
    chmodSync(file, 0o755);
    vi.stubEnv('PATH', `${directory}:${process.env['PATH']}`);
    return kubectlIn('here');
  };

  it('has failed, unless it is a wait that ran out of time', async () => {
    const ranOut = kubectlSaying('error: timed out waiting for the condition on pods/a');
    await expect(ranOut('wait pod/a --for=delete --timeout=1s')).rejects.toMatchObject({ name: 'WaitTimeout' });
    await expect(ranOut('rollout status deployment/a')).rejects.toMatchObject({ name: 'WaitTimeout' });
    await expect(ranOut('exec a -- wait')).rejects.toMatchObject({ name: 'RunError' });
    const refused = kubectlSaying('Error from server (NotFound): pods "a" not found');
    await expect(refused('wait pod/a --for=delete --timeout=1s')).rejects.toMatchObject({ name: 'RunError' });
  });
});
