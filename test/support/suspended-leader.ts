import { pods } from '../../src/kube/resource.ts';
import { systemClock as clock } from '../../src/runtime/clock.ts';
import { lead } from '../../src/runtime/lease.ts';
import { whileLeading } from '../../src/runtime/while-leading.ts';
import { FakeLeases } from './fake-leases.ts';

/**
 * A program that leads and writes without a pause, until it may not. Nothing but its own clock can stop it: its lease is taken
 * by no other, and renewals succeed. It says when it leads, how often it was refused, and the time between its last two writes.
 */
const lease = { client: new FakeLeases().clientOf('us'), namespace: 'n', name: 'lease', identity: 'us', clock };
const times = { durationSeconds: 3, renewDeadlineSeconds: 2, retrySeconds: 0.2 };
let [last, longestPause] = [clock.monotonic(), 0];

const wrote = async (): Promise<never> => {
  longestPause = Math.max(longestPause, clock.monotonic() - last);
  last = clock.monotonic();
  return {} as never;
};

await lead(
  { ...lease, ...times, onTrouble: () => undefined },
  async ({ holds }) => {
    const client = whileLeading({ remove: wrote } as never, holds);
    console.log('leading');
    for (;;) {
      const isRefused = await client.remove(pods, { name: 'db-0' }).then(
        () => false,
        () => true,
      );
      if (isRefused) return;
      await new Promise((resolve) => setImmediate(resolve)); // before timers, so that none has fired when the process goes on
    }
  },
  new AbortController().signal,
).catch(() => undefined);
console.log(`longest pause between two writes: ${Math.round(longestPause)} ms`);
process.exit();
