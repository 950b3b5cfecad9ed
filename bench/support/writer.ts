import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdConnection } from '../../src/etcd/client.ts';
import type { MemberObserver } from './serving.ts';

/** The errors and gaps of a client that writes every ten milliseconds, and retries once on another member. */
export interface Experience {
  readonly failed: number;
  readonly longestGapMillis: number;
}

const everyMillis = 10;
const writeTimeoutMillis = 1_000;

export async function whileWriting(
  observer: MemberObserver,
  cluster: string,
  happen: () => Promise<void>,
): Promise<Experience> {
  const members = await observer.connectionsTo(cluster);
  const stop = new AbortController();
  const writing = write(members, stop.signal);
  try {
    await happen();
  } finally {
    stop.abort();
  }
  return writing;
}

async function write(members: readonly EtcdConnection[], stop: AbortSignal): Promise<Experience> {
  let [failed, longestGapMillis, at] = [0, 0, 0];
  let last = performance.now();
  for (let i = 0; !stop.aborted; i++) {
    const put = (): Promise<unknown> =>
      (members[at % members.length] as EtcdConnection).put(`bench/${i % 100}`, String(i), {
        timeoutMillis: writeTimeoutMillis,
      });
    const done = await put()
      .catch(() => {
        at++; // another member
        return put();
      })
      .then(
        () => true,
        () => false,
      );
    const now = performance.now();
    if (done) {
      longestGapMillis = Math.max(longestGapMillis, now - last);
      last = now;
    } else failed++;
    await sleep(everyMillis);
  }
  return { failed, longestGapMillis };
}
