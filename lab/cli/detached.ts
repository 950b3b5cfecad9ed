import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../src/std/failure.ts';
import { runningIn } from './state.ts';
import { secureStateDirectory } from './state-directory.ts';

const everyMillis = 50;

/** Starts the lab in the background, and returns when it is ready. */
export async function detached(words: readonly string[], state: string, signal: AbortSignal): Promise<void> {
  secureStateDirectory(state);
  // A separate log until the lab has its lock: another lab may run here, and its log must not be overwritten.
  const file = join(state, `lab.log.${process.pid}`);
  const child = startChild(words, openSync(file, 'w', 0o600));
  const outcome = await untilReady(child, { file, state }, signal);
  keepLog(file, state, child);
  if (outcome !== undefined) throw new Failure('rejected', outcome);
  child.unref();
}

interface LogAndState {
  readonly file: string;
  readonly state: string;
}

/** Prints the output of the lab until it is ready; returns the reason if it does not start. */
async function untilReady(
  child: ChildProcess,
  { file, state }: LogAndState,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ended = once(child, 'exit').then(() => true);
  const printNew = outputPrinter(file);
  while (!signal.aborted) {
    const running = runningIn(state);
    const isUp = running?.pid === child.pid && running?.isReady === true;
    const hasEnded = await Promise.race([ended, sleep(everyMillis, false)]);
    printNew();
    if (hasEnded) return 'the lab did not start';
    if (isUp) return undefined;
  }
  child.kill('SIGTERM');
  await ended;
  printNew();
  return 'the lab was stopped before it was up';
}

function startChild(words: readonly string[], log: number): ChildProcess {
  const args = [...process.execArgv, process.argv[1] ?? '', ...words.filter((word) => word !== '--detach')];
  return spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log] });
}

/** Returns a function that prints what is new in a file. */
function outputPrinter(file: string): () => void {
  let shown = 0;
  return () => {
    const output = readFileSync(file).subarray(shown);
    shown += output.length;
    process.stdout.write(output);
  };
}

function keepLog(file: string, state: string, { pid }: ChildProcess): void {
  const running = runningIn(state);
  if (running === undefined || running.pid === pid) renameSync(file, join(state, 'lab.log'));
  else rmSync(file);
}
