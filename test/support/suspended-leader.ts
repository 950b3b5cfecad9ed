import { pods } from '../../src/kube/resource.ts';
import { systemClock as clock } from '../../src/runtime/clock.ts';
import { fencedKubeClient } from '../../src/runtime/fenced-kube-client.ts';
import { lead } from '../../src/runtime/lease.ts';
import { FakeLeases } from './fake-leases.ts';

/**
 * A program that becomes leader and writes without a pause until a write is refused. Only its own clock can stop it: no other
 * program takes the lease, and renewals succeed. It prints when it leads, and the longest pause between two writes.
 */
const lease = { client: new FakeLeases().clientOf('leader'), namespace: 'n', name: 'lease', identity: 'leader', clock };
const times = { durationSeconds: 3, renewDeadlineSeconds: 2, retrySeconds: 0.2 };
let [last, longestPause] = [clock.monotonic(), 0];

const recordWrite = async (): Promise<never> => {
  longestPause = Math.max(longestPause, clock.monotonic() - last);
  last = clock.monotonic();
  return {} as never;
};

await lead(
  { ...lease, ...times, onFailure: () => undefined },
  async ({ holds }) => {
    const client = fencedKubeClient({ remove: recordWrite } as never, holds);
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
