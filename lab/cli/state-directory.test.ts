import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startApiServer } from '../apiserver/start.ts';
import { lockState } from './lock.ts';
import { writeRunning } from './state.ts';

let parent: string;
let state: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'own-'));
  state = join(parent, 'lab');
});
afterEach(() => rmSync(parent, { recursive: true }));

const modeOf = (...path: readonly string[]): string => (statSync(join(state, ...path)).mode & 0o777).toString(8);

describe('the state directory of the lab', () => {
  it('is accessible only to its owner, with all files of the lab in it', async () => {
    using _lock = await lockState(state);
    writeRunning(state, { kubeconfig: 'x', nodes: 1 });
    const server = await startApiServer({
      directory: join(state, 'apiserver'),
      listen: { host: '127.0.0.1', port: 0 },
      streamsOf: () => undefined,
    });
    await server.close();
    expect([modeOf(), modeOf('running.json'), modeOf('apiserver')]).toEqual(['700', '600', '700']);
    expect(modeOf('apiserver', 'objects.log')).toBe('600');
  });

  it("of an earlier version is closed to other users too, except for files that are not the lab's", async () => {
    for (const path of ['apiserver', 'volumes/pvc-1']) mkdirSync(join(state, path), { recursive: true });
    const files = ['lab.log', 'apiserver/objects.log', 'volumes/pvc-1/data', 'notes'];
    for (const path of files) writeFileSync(join(state, path), '');
    for (const path of ['', 'apiserver', 'volumes', 'volumes/pvc-1']) chmodSync(join(state, path), 0o755);
    for (const path of files) chmodSync(join(state, path), 0o644);
    using _lock = await lockState(state);
    expect([modeOf(), modeOf('lab.log'), modeOf('apiserver'), modeOf('apiserver/objects.log')]).toEqual([
      ...['700', '600', '700', '600'],
    ]);
    expect(['volumes/pvc-1', 'volumes/pvc-1/data', 'notes'].map((path) => modeOf(path))).toEqual(['755', '644', '644']);
  });

  it('is refused if other users can write to it', async () => {
    mkdirSync(state);
    chmodSync(state, 0o1777);
    await expect(lockState(state)).rejects.toThrow(
      'is shared with other users: choose a directory of your own with --state',
    );
    expect(modeOf()).toBe('777');
  });
});
