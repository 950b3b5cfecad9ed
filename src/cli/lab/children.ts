import { readFileSync } from 'node:fs';

/** Ends what this process has started and no longer waits for, such as programs that fetch or build others. */
export function endChildren(): void {
  const own = `/proc/${process.pid}/task/${process.pid}/children`;
  for (const pid of readFileSync(own, 'utf8').split(' ').filter(Boolean)) end(Number(pid));
}

function end(pid: number): void {
  try {
    process.kill(pid);
  } catch {
    // It ended by itself in this moment.
  }
}
