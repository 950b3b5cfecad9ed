import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

const program = join(import.meta.dirname, '../../test/support/suspended-leader.ts');

it('a leader stopped by SIGSTOP for longer than its lease writes nothing after SIGCONT', async () => {
  const leader = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const ended = once(leader, 'close'); // after all its output was read
  const reader = createInterface({ input: leader.stdout }).on('line', (line) => lines.push(line));
  try {
    await once(reader, 'line');
    leader.kill('SIGSTOP');
    await sleep(3_500); // the lease duration is 3 s
    leader.kill('SIGCONT');
    await ended;
    const pause = Number(/(\d+) ms/.exec(lines[1] ?? '')?.[1]);
    expect(pause, lines.join()).toBeLessThan(2_500);
  } finally {
    leader.kill('SIGKILL');
  }
}, 30_000);
