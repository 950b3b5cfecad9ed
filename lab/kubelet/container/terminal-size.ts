import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Process } from './process.ts';

const run = promisify(execFile);

/** Sets the size of a process's terminal. Does nothing if the process has ended. */
export async function resize(process: Process, { width, height }: { width: number; height: number }): Promise<void> {
  // The first program is `script`, which provides the terminal; the second has it as stdin.
  const [, pid] = process.chain();
  if (pid === undefined) return;
  try {
    const terminal = readlinkSync(`/proc/${pid}/fd/0`);
    if (!/^\/dev\/(?:pts\/\d+|tty\d*)$/.test(terminal)) return;
    await run('stty', ['-F', terminal, 'rows', String(height), 'cols', String(width)]);
  } catch {
    // The process has just ended.
  }
}
