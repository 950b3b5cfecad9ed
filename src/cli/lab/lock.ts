import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { Failure } from '../../std/failure.ts';
import { ownDirectory } from './own-directory.ts';
import { runningIn } from './state.ts';

/**
 * Takes a state directory for one lab. The lock is a name that the kernel knows, of no file: it goes with its process,
 * however that ends, so that nobody has to find out whether one that is there is still meant.
 */
export async function lockState(state: string): Promise<Disposable> {
  ownDirectory(state);
  const { dev, ino } = statSync(state);
  const lock = createServer().listen(`\0etcd-operator-lab-${dev}-${ino}`);
  await once(lock, 'listening').catch((error: unknown) => {
    throw isTaken(error) ? new Failure('rejected', whoHas(state)) : error;
  });
  lock.unref();
  return { [Symbol.dispose]: () => lock.close() };
}

export const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

function whoHas(state: string): string {
  const running = runningIn(state);
  return running === undefined
    ? `a lab is being started or removed in ${state} already`
    : `a lab runs in ${state} already, as process ${running.pid}: "lab down" ends it`;
}
