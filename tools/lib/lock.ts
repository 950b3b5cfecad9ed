import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOf } from './processes.ts';

export interface Lock {
  readonly [Symbol.dispose]: () => void;
}

/**
 * A lock between processes, so that two concurrent makes do not build the same program or start and stop one cluster.
 * The lock is a file with its holder's process. The lock of a dead process is free.
 */
export async function lock(path: string, onWait: (holder: number) => void): Promise<Lock> {
  mkdirSync(dirname(path), { recursive: true });
  for (let isWaiting = false; ; isWaiting = true) {
    const holder = take(path);
    if (holder === undefined) return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
    if (!isWaiting) onWait(holder);
    await sleep(200);
  }
}

/** Takes the lock, or returns its holder. The file is linked with its content: an empty file would look abandoned. */
function take(path: string): number | undefined {
  const written = `${path}.${process.pid}`;
  writeFileSync(written, `${process.pid} ${startOf(process.pid)}`);
  try {
    linkSync(written, path);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(written);
  }
  const holder = holderOf(path);
  if (holder !== undefined) return holder;
  rmSync(path, { force: true });
  return take(path);
}

function holderOf(path: string): number | undefined {
  try {
    const [pid = '', start = ''] = readFileSync(path, 'utf8').split(' ');
    return startOf(Number(pid)) === start ? Number(pid) : undefined;
  } catch {
    return undefined; // released at this moment
  }
}
