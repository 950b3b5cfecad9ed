import { expect, it } from 'vitest';
import { aWorld } from '../../../../test/support/worlds.ts';
import { Failure, type FailureKind } from '../../../std/failure.ts';
import { observeClientEndpoints } from './client-endpoints.ts';

const observedAfter = (kind: FailureKind) =>
  observeClientEndpoints(
    {
      ...{ world: aWorld(), podWith: () => undefined },
      blueprint: { naming: { clientService: 'db-client' }, intent: { namespace: 'n' } },
    } as never,
    { list: () => Promise.reject(new Failure(kind, 'no')) },
  );

it('the endpoints of the client Service are unknown without permission, and asked for again after an outage', async () => {
  expect(await observedAfter('forbidden')).toBe('unknown');
  expect(await observedAfter('unreachable')).toBeUndefined();
});
