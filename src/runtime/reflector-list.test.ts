import { describe, expect, it } from 'vitest';
import { ApiFailure } from '../kube/errors.ts';
import type { Pod } from '../kube/object.ts';
import { pods } from '../kube/resource.ts';
import type { Failure } from '../std/failure.ts';
import { systemClock } from './clock.ts';
import { Reflector, whenSynced } from './reflector.ts';

describe('a list', () => {
  it('that stalls is a failure, not an idle time-out of a watch', async () => {
    const cause = Object.assign(new Error('Body Timeout Error'), { code: 'UND_ERR_BODY_TIMEOUT' });
    const pages = () => {
      throw new ApiFailure('unreachable', 'the list stalled', { cause });
    };
    const { promise: trouble, resolve } = Promise.withResolvers<Failure>();
    const client = { pages } as never;
    const reflector = new Reflector<Pod>({ client, resource: pods, clock: systemClock, onFailure: resolve });
    const stop = new AbortController();
    const ended = reflector.run(stop.signal);
    expect(await trouble).toMatchObject({ message: 'the list stalled' });
    stop.abort();
    await ended;
  });

  it('without an answer does not delay a stop', async () => {
    const stop = new AbortController();
    const waiting = whenSynced([{ synced: new Promise(() => {}) }], stop.signal);
    stop.abort();
    expect(await waiting).toBe(false);
  });
});
