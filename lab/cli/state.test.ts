import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../test/support/until.ts';
import { runningIn } from './state.ts';

const statOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];

it('a lab whose process is a zombie does not count as running', async () => {
  const state = mkdtempSync(join(tmpdir(), 'lab-state-'));
  onTestFinished(() => rmSync(state, { recursive: true }));
  // The shell execs a program that never reaps its child. The child waits for that, since a shell might reap it.
  const script = 'exec 3<&0; (read _ <&3) & echo $!; exec sleep 60';
  const parent = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [output] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(output.toString());
  writeFileSync(join(state, 'running.json'), JSON.stringify({ pid, startedAt: statOf(pid)[19] }));
  const isShell = (): boolean => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') !== 'sleep\n';
  await until('the shell has been replaced', async () => !isShell() || undefined);
  parent.stdin.write('\n');
  await until('the child is a zombie', async () => statOf(pid)[0] === 'Z' || undefined);
  expect(runningIn(state)).toBeUndefined();
});
