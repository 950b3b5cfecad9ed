import { readFileSync } from 'node:fs';

/** Kills child processes that are still running, such as downloads and builds. */
export function killChildren(): void {
  const own = `/proc/${process.pid}/task/${process.pid}/children`;
  for (const pid of readFileSync(own, 'utf8').split(' ').filter(Boolean)) kill(Number(pid));
}

function kill(pid: number): void {
  try {
    process.kill(pid);
  } catch {
    // It has just ended by itself.
  }
}
