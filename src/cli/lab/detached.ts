import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../std/failure.ts';
import { ownDirectory } from './own-directory.ts';
import { runningIn } from './state.ts';

const everyMillis = 50;

/** Starts the same again without a terminal, and returns when all is there that it begins with. */
export async function detached(words: readonly string[], state: string, signal: AbortSignal): Promise<void> {
  ownDirectory(state);
  // Under a name of its own until it is known that no other lab runs here, whose log would be lost.
  const file = join(state, `lab.log.${process.pid}`);
  const child = started(words, openSync(file, 'w', 0o600));
  const outcome = await watched(child, { file, state }, signal);
  keepLog(file, state, child);
  if (outcome !== undefined) throw new Failure('rejected', outcome);
  child.unref();
}

interface Places {
  readonly file: string;
  readonly state: string;
}

/** Passes on what it says until it is up, and gives back why it is not. */
async function watched(child: ChildProcess, { file, state }: Places, signal: AbortSignal): Promise<string | undefined> {
  const ended = once(child, 'exit').then(() => true);
  const tell = teller(file);
  while (!signal.aborted) {
    const running = runningIn(state);
    const isUp = running?.pid === child.pid && running?.isWelcoming === true;
    const isOver = await Promise.race([ended, sleep(everyMillis, false)]);
    tell();
    if (isOver) return 'the lab did not start';
    if (isUp) return undefined;
  }
  child.kill('SIGTERM');
  await ended;
  tell();
  return 'the lab was told to end before it was up';
}

function started(words: readonly string[], log: number): ChildProcess {
  const same = [...process.execArgv, process.argv[1] ?? '', 'lab', ...words.filter((word) => word !== '--detach')];
  return spawn(process.execPath, same, { detached: true, stdio: ['ignore', log, log] });
}

/** Passes on what is new in a file, each time it is called. */
function teller(file: string): () => void {
  let shown = 0;
  return () => {
    const said = readFileSync(file).subarray(shown);
    shown += said.length;
    process.stdout.write(said);
  };
}

function keepLog(file: string, state: string, { pid }: ChildProcess): void {
  const running = runningIn(state);
  if (running === undefined || running.pid === pid) renameSync(file, join(state, 'lab.log'));
  else rmSync(file);
}
