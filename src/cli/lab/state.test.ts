import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { runningIn } from './state.ts';

const statOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];

it('takes no lab for running whose process has ended, though its parent did not ask how', async () => {
  const state = mkdtempSync(join(tmpdir(), 'lab-state-'));
  onTestFinished(() => rmSync(state, { recursive: true }));
  // The shell becomes a program that never asks for its child's end. The child waits for that: a shell might ask.
  const script = 'exec 3<&0; (read _ <&3) & echo $!; exec sleep 60';
  const parent = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [said] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(said.toString());
  writeFileSync(join(state, 'running.json'), JSON.stringify({ pid, startedAt: statOf(pid)[19] }));
  const isShell = (): boolean => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') !== 'sleep\n';
  await until('the shell is no more', async () => !isShell() || undefined);
  parent.stdin.write('\n');
  await until('it has ended', async () => statOf(pid)[0] === 'Z' || undefined);
  expect(runningIn(state)).toBeUndefined();
});
