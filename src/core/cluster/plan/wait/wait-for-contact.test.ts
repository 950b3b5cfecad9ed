import { expect, it } from 'vitest';
import { aWorld, durable, outOfContact, withMemberPod } from '../../../../../test/support/worlds.ts';
import { planCluster } from '../plan-cluster.ts';

const withLost = (...names: readonly string[]) =>
  planCluster(aWorld(durable(), ...names.map((name) => withMemberPod(name, { volume: 'lost' })), outOfContact()));

it('quorum is lost once a majority has lost its data, and not before', () => {
  expect(withLost('db-2')).toMatchObject({ is: 'wait', reason: 'NoContact' });
  const message = 'quorum lost: 2 of 3 members have lost their data; restore a backup';
  expect(withLost('db-1', 'db-2')).toMatchObject({ reason: 'QuorumLost', message, needsUserAction: true });
});
