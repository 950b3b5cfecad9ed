import { pods } from '../../src/kube/resource.ts';
import { systemClock as clock } from '../../src/runtime/clock.ts';
import { fencedKubeClient } from '../../src/runtime/fenced-kube-client.ts';
import { lead } from '../../src/runtime/lease.ts';
import { FakeLeases } from './fake-leases.ts';

/**
 * A program that becomes leader and writes without a pause until a write is refused. Only its own clock can stop it: no other
 * program takes the lease, and renewals succeed. It prints when it leads, and the longest pause between two writes.
 *
 * A write counts from the moment before its check of the lease. The signal may also stop the process between the check and the
 * write: no program can prevent that, and the test must not depend on it.
 */
const lease = { client: new FakeLeases().clientOf('leader'), namespace: 'n', name: 'lease', identity: 'leader', clock };
const times = { durationSeconds: 3, renewDeadlineSeconds: 2, retrySeconds: 0.2 };
let [last, longestPause] = [clock.monotonic(), 0];
let allowedAt: number | undefined;

const noteCheck = (holds: () => boolean) => (): boolean => {
  const at = clock.monotonic();
  allowedAt = holds() ? at : undefined;
  return allowedAt !== undefined;
};

const recordWrite = async (): Promise<never> => {
  const at = allowedAt ?? clock.monotonic();
  longestPause = Math.max(longestPause, at - last);
  [last, allowedAt] = [at, undefined];
  return {} as never;
};

await lead(
  { ...lease, ...times, onFailure: () => undefined },
  async ({ holds }) => {
    const client = fencedKubeClient({ remove: recordWrite } as never, noteCheck(holds));
    last = clock.monotonic();
    console.log('leading');
    for (;;) {
      const isRefused = await client.remove(pods, { name: 'db-0' }).then(
        () => false,
        () => true,
      );
      if (isRefused) return;
      await new Promise((resolve) => setImmediate(resolve)); // runs before timers, so that no timer has fired when the process resumes
    }
  },
  new AbortController().signal,
).catch(() => undefined);
console.log(`longest pause between two writes: ${Math.round(longestPause)} ms`);
process.exit();
