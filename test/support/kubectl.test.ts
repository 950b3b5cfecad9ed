import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { kubectlIn, splitArgs } from './kubectl.ts';
import { stretchTimeouts } from './patience.ts';

describe('a kubectl command line', () => {
  const cases: Record<string, readonly string[]> = {
    'get pods -o wide': ['get', 'pods', '-o', 'wide'],
    "exec db -- sh -c 'echo a  b'": ['exec', 'db', '--', 'sh', '-c', 'echo a  b'],
    'wait pod/a --for=jsonpath="{.status.phase}"=Running': ['wait', 'pod/a', '--for=jsonpath={.status.phase}=Running'],
    'put k ""': ['put', 'k', ''],
  };
  for (const [line, args] of Object.entries(cases)) it(line, () => expect(splitArgs(line)).toEqual(args));
});

describe('the time-out of a kubectl command line', () => {
  it('is stretched, except a short time-out that the story expects', () => {
    expect(stretchTimeouts('wait pod/a --for=delete --timeout=30s')).toBe('wait pod/a --for=delete --timeout=120s');
    expect(stretchTimeouts('wait pod/a --for=delete --timeout=10s')).toBe('wait pod/a --for=delete --timeout=10s');
  });
});

describe('a failed kubectl command', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kubectl-'));
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true });
  });

  /** A kubectl that prints this on stderr and fails. */
  const failingKubectl = (message: string) => {
    const file = join(directory, 'kubectl');
    writeFileSync(file, `#!/bin/sh\necho '${message}' >&2\nexit 1\n`);
    chmodSync(file, 0o755);
    vi.stubEnv('PATH', `${directory}:${process.env['PATH']}`);
    return kubectlIn('here');
  };

  it('throws a WaitTimeout if a wait timed out, and a RunError otherwise', async () => {
    const ranOut = failingKubectl('error: timed out waiting for the condition on pods/a');
    await expect(ranOut('wait pod/a --for=delete --timeout=1s')).rejects.toMatchObject({ name: 'WaitTimeout' });
    await expect(ranOut('rollout status deployment/a')).rejects.toMatchObject({ name: 'WaitTimeout' });
    await expect(ranOut('exec a -- wait')).rejects.toMatchObject({ name: 'RunError' });
    const refused = failingKubectl('Error from server (NotFound): pods "a" not found');
    await expect(refused('wait pod/a --for=delete --timeout=1s')).rejects.toMatchObject({ name: 'RunError' });
  });
});
