import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { Failure } from '../std/failure.ts';
import { makeLog } from './log.ts';
import { placesOf, waitForOldLock } from './old-lock.ts';

const lock = (renewTime: string): string =>
  JSON.stringify({ holderIdentity: 'old', leaseDurationSeconds: 15, renewTime });

/** How many seconds it waits, when the lock is what `annotation` says at that second. */
async function waits(annotation: (second: number) => string | Failure | undefined): Promise<number> {
  const clock = new VirtualClock();
  const client = {
    get: async () => {
      const text = annotation(clock.monotonic() / 1000);
      if (text instanceof Failure) throw text;
      if (text === undefined) throw new Failure('not-found', 'no such endpoints');
      return { metadata: { name: 'etcd-operator', annotations: { 'control-plane.alpha.kubernetes.io/leader': text } } };
    },
  };
  let ended: number | undefined;
  const place = { plural: 'endpoints', kind: 'Endpoints', name: 'etcd-operator' } as const;
  const options = { client: client as never, namespace: 'default', place, clock, log: makeLog('silent') };
  const waiting = waitForOldLock(options, new AbortController().signal).then(() => (ended = clock.monotonic() / 1000));
  await clock.advance(200_000);
  await waiting;
  return ended ?? -1;
}

describe('the lock of an original operator', () => {
  it('is not waited for where there is none', async () => {
    expect(await waits(() => undefined)).toBe(0);
    expect(await waits(() => '')).toBe(0);
    expect(await waits(() => 'not JSON')).toBe(0);
    expect(await waits(() => JSON.stringify({ holderIdentity: '' }))).toBe(0);
  });

  it('is waited for until it has not been renewed for as long as it is good for, whatever the clocks say', async () => {
    expect(await waits(() => lock('1999-01-01T00:00:00Z'))).toBe(16);
    expect(await waits((second) => lock(second < 60 ? `renewed at ${Math.floor(second / 10)}` : 'the last time'))).toBe(
      76,
    );
  });

  it('is free when it was given back', async () => {
    expect(await waits((second) => (second < 20 ? lock(String(second)) : undefined))).toBe(20);
  });

  it('counts as held while it cannot be read', async () => {
    const failed = new Failure('unreachable', 'the API server does not accept our credentials');
    const freed = await waits((second) => (second < 20 ? failed : undefined));
    expect(freed).toBeGreaterThanOrEqual(20);
    expect(freed).toBeLessThanOrEqual(25);
    expect(await waits((second) => (second > 1 && second < 9 ? failed : lock('the last time')))).toBeLessThan(22);
  });

  it('is not waited for any longer when the operator is stopped while the API server is unreachable', async () => {
    const stop = new AbortController();
    const get = (_: unknown, __: unknown, options: { readonly signal?: AbortSignal }) => {
      expect(options.signal).toBe(stop.signal);
      return Promise.reject(new Failure('unreachable', 'timed out'));
    };
    const place = { plural: 'endpoints', kind: 'Endpoints', name: 'etcd-operator' } as const;
    const [clock, log] = [new VirtualClock(), makeLog('silent')];
    const waiting = waitForOldLock({ client: { get } as never, namespace: 'default', place, clock, log }, stop.signal);
    await clock.advance(10_000);
    stop.abort();
    await expect(waiting).resolves.toBeUndefined();
  });

  it('is looked for under the name that the flag gives, too, where the original had that flag', () => {
    const place = { plural: 'configmaps', kind: 'ConfigMap', name: 'by-default' } as const;
    const named = { ...place, isNamedByFlag: true };
    const names = (...of: Parameters<typeof placesOf>) => placesOf(...of).map(({ name }) => name);
    expect(names(named, 'mine')).toEqual(['by-default', 'mine']);
    expect(names(named, 'by-default')).toEqual(['by-default']);
    expect(names(named, undefined)).toEqual(['by-default']);
    expect(names(place, 'mine')).toEqual(['by-default']);
  });
});
