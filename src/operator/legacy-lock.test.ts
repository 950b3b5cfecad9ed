import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { Failure } from '../std/failure.ts';
import { lockObjects, waitForLegacyLock } from './legacy-lock.ts';
import { makeLog } from './telemetry/log.ts';

const lock = (renewTime: string): string =>
  JSON.stringify({ holderIdentity: 'old', leaseDurationSeconds: 15, renewTime });

/** The seconds until the wait ends. `annotation`: the annotation of the lock at a given second, or the failure of its read. */
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
  const waiting = waitForLegacyLock(options, new AbortController().signal).then(
    () => (ended = clock.monotonic() / 1000),
  );
  await clock.advance(200_000);
  await waiting;
  return ended ?? -1;
}

describe('the lock of an original operator', () => {
  it('is free without an object, a valid annotation or a holder', async () => {
    expect(await waits(() => undefined)).toBe(0);
    expect(await waits(() => '')).toBe(0);
    expect(await waits(() => 'not JSON')).toBe(0);
    expect(await waits(() => JSON.stringify({ holderIdentity: '' }))).toBe(0);
  });

  it('expires when it was not renewed for its lease duration, whatever time it contains', async () => {
    expect(await waits(() => lock('1999-01-01T00:00:00Z'))).toBe(16);
    expect(await waits((second) => lock(second < 60 ? `renewed at ${Math.floor(second / 10)}` : 'the last time'))).toBe(
      76,
    );
  });

  it('is free once the object is deleted', async () => {
    expect(await waits((second) => (second < 20 ? lock(String(second)) : undefined))).toBe(20);
  });

  it('counts as held while it cannot be read', async () => {
    const failed = new Failure('unreachable', 'the API server does not accept our credentials');
    const freed = await waits((second) => (second < 20 ? failed : undefined));
    expect(freed).toBeGreaterThanOrEqual(20);
    expect(freed).toBeLessThanOrEqual(25);
    expect(await waits((second) => (second > 1 && second < 9 ? failed : lock('the last time')))).toBeLessThan(22);
  });

  it('is no longer waited for when the operator stops while the API server is unreachable', async () => {
    const stop = new AbortController();
    const get = (_: unknown, __: unknown, options: { readonly signal?: AbortSignal }) => {
      expect(options.signal).toBe(stop.signal);
      return Promise.reject(new Failure('unreachable', 'timed out'));
    };
    const place = { plural: 'endpoints', kind: 'Endpoints', name: 'etcd-operator' } as const;
    const [clock, log] = [new VirtualClock(), makeLog('silent')];
    const options = { client: { get } as never, namespace: 'default', place, clock, log };
    const waiting = waitForLegacyLock(options, stop.signal);
    await clock.advance(10_000);
    stop.abort();
    await expect(waiting).resolves.toBeUndefined();
  });

  it('may also have the name from --leader-election-id, if the original has that flag', () => {
    const place = { plural: 'configmaps', kind: 'ConfigMap', name: 'by-default' } as const;
    const named = { ...place, isNamedByFlag: true };
    const names = (...of: Parameters<typeof lockObjects>) => lockObjects(...of).map(({ name }) => name);
    expect(names(named, 'mine')).toEqual(['by-default', 'mine']);
    expect(names(named, 'by-default')).toEqual(['by-default']);
    expect(names(named, undefined)).toEqual(['by-default']);
    expect(names(place, 'mine')).toEqual(['by-default']);
  });
});
