import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOf } from './processes.ts';

export interface Lock {
  readonly [Symbol.dispose]: () => void;
}

/**
 * Two makes side by side must not build the same thing twice or bring one cluster up and down at once. The lock is a file
 * that names its holder; a holder that is gone (killed, or the machine was restarted) holds nothing.
 */
export async function lock(path: string, onWait: (holder: number) => void): Promise<Lock> {
  mkdirSync(dirname(path), { recursive: true });
  for (let told = false; ; told = true) {
    const holder = take(path);
    if (holder === undefined) return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
    if (!told) onWait(holder);
    await sleep(200);
  }
}

/** Takes the lock, or says who has it. It appears with its holder's name in it: an empty one would look abandoned. */
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
    return undefined; // given back in this very moment
  }
}
