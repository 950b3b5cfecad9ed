import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockState } from './lock.ts';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'lock-'));
});
afterEach(() => rmSync(state, { recursive: true }));

/** Starts another process that holds the lock. */
async function holder(): Promise<ReturnType<typeof spawn>> {
  const script = `
    import { lockState } from ${JSON.stringify(join(import.meta.dirname, 'lock.ts'))};
    await lockState(${JSON.stringify(state)});
    console.log('locked');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

describe('a state directory', () => {
  it('is used by one lab at a time, by whichever path', async () => {
    const first = await lockState(state);
    await expect(lockState(join(state, '..', state.split('/').at(-1) ?? ''))).rejects.toThrow('already');
    first[Symbol.dispose]();
    using _second = await lockState(state);
  });

  it('is unlocked when the process that holds the lock is killed', async () => {
    const child = await holder();
    await expect(lockState(state)).rejects.toThrow('already');
    child.kill('SIGKILL');
    await once(child, 'exit');
    using _lock = await lockState(state);
  });
});
