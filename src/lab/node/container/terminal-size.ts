import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Process } from './process.ts';

const run = promisify(execFile);

/** Tells the terminal in front of a process how large it is. One that is gone has no size. */
export async function resize(process: Process, { width, height }: { width: number; height: number }): Promise<void> {
  // The first program is `script`, which makes the terminal; the next is the first that has it.
  const [, within] = process.chain();
  if (within === undefined) return;
  try {
    const terminal = readlinkSync(`/proc/${within}/fd/0`);
    if (!/^\/dev\/(?:pts\/\d+|tty\d*)$/.test(terminal)) return;
    await run('stty', ['-F', terminal, 'rows', String(height), 'cols', String(width)]);
  } catch {
    // It ended in this moment.
  }
}
