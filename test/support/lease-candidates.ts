import type { Clock } from '../../src/runtime/clock.ts';
import { type Leadership, lead } from '../../src/runtime/lease.ts';
import { Failure } from '../../src/std/failure.ts';
import type { FakeLeases } from './fake-leases.ts';

/** A process that leads, or waits for the lease. */
export interface Candidate {
  /** Undefined until the candidate leads. */
  leadership: Leadership | undefined;
  ended: 'no' | 'stopped' | Failure;
  readonly stop: AbortController;
  readonly failures: Failure[];
  /** True if onLost ran before the lost signal aborted. */
  lostFirst?: boolean;
}

/** Starts a candidate. `process` is its identity, with an optional suffix after a slash to name the process. */
export function startCandidate(server: FakeLeases, clock: Clock, process: string): Candidate {
  const [identity = ''] = process.split('/');
  const stop = new AbortController();
  const candidate: Candidate = { leadership: undefined, ended: 'no', stop, failures: [] };
  const work = (leadership: Leadership): Promise<void> => {
    candidate.leadership = leadership;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    stop.signal.addEventListener('abort', () => resolve());
    leadership.lost.addEventListener('abort', () => reject(new Error('a consequence')));
    return promise;
  };
  const options = {
    client: server.clientOf(process),
    namespace: 'system',
    name: 'operator',
    identity,
    clock,
    onFailure: (failure: Failure) => candidate.failures.push(failure),
    onLost: () => void (candidate.lostFirst = candidate.leadership?.lost.aborted === false),
  };
  const run = async (): Promise<void> => {
    try {
      await lead(options, work, stop.signal);
      candidate.ended = 'stopped';
    } catch (thrown) {
      candidate.ended = Failure.from(thrown);
    }
  };
  void run();
  return candidate;
}
