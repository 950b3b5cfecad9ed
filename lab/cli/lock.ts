import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { Failure } from '../../src/std/failure.ts';
import { runningIn } from './state.ts';
import { secureStateDirectory } from './state-directory.ts';

/**
 * Locks a state directory for one lab. The lock is an abstract socket: it ends with its process, so a stale lock cannot
 * remain.
 */
export async function lockState(state: string): Promise<Disposable> {
  secureStateDirectory(state);
  const { dev, ino } = statSync(state);
  const lock = createServer().listen(`\0etcd-operator-lab-${dev}-${ino}`);
  await once(lock, 'listening').catch((error: unknown) => {
    throw isTaken(error) ? new Failure('rejected', lockedMessage(state)) : error;
  });
  lock.unref();
  return { [Symbol.dispose]: () => lock.close() };
}

export const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

function lockedMessage(state: string): string {
  const running = runningIn(state);
  return running === undefined
    ? `a lab is already being started or removed in ${state}`
    : `a lab is already running in ${state} as process ${running.pid}: stop it with "lab down"`;
}
